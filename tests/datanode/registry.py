# SPDX-License-Identifier: Apache-2.0
"""The documents of one schema server: stored revisions, tombstones, lists, replays and live events."""
import collections
import json
import operator
import random
import threading
import time
from dataclasses import dataclass

from google.protobuf import json_format

import messages
from messages import common, property_, schema
from values import from_tag, to_tag

GROUP = "_schema"
INSERT, UPDATE, DELETE, REPLAY_DONE = 1, 2, 3, 4
LIVE_BUFFER = 512           # events a slow watcher may lag behind before they are dropped without a word
_OPERATIONS = {1: operator.eq, 2: operator.ne, 3: operator.lt, 4: operator.gt, 5: operator.le, 6: operator.ge}
_LOGICAL_OR = 2


class AlreadyExists(Exception):
    """An insert of an object that has a live document."""


class InvalidRequest(Exception):
    """A request that lacks what the registry needs."""


@dataclass
class Document:
    property: object
    delete_time: int = 0


def tag_of(found, key):
    """The value of a property's tag, None when it has no such tag."""
    return next((from_tag(tag.value) for tag in found.tags if tag.key == key), None)


def object_id(kind, group, name):
    return f"group_{name}" if kind == "group" else f"{kind}_{group}/{name}"


def to_property(kind, source):
    """The envelope of a schema object, given as a message that carries its revision and times."""
    updated_at = messages.nanoseconds(source.updated_at)
    text = json.dumps(json_format.MessageToDict(source), separators=(",", ":"), ensure_ascii=False)
    tags = {"group": source.metadata.group, "name": source.metadata.name, "source": text, "kind": kind,
            "updated_at": updated_at}
    if source.HasField("created_at"):
        tags["created_at"] = messages.nanoseconds(source.created_at)
    found = property_.Property(id=object_id(kind, source.metadata.group, source.metadata.name),
                               metadata=common.Metadata(group=GROUP, name=kind,
                                                        mod_revision=source.metadata.mod_revision))
    for key, value in tags.items():
        found.tags.add(key=key).value.CopyFrom(to_tag(value))
    messages.set_nanoseconds(found.updated_at, updated_at)
    return found


class Watcher:
    """The outgoing side of one watch: whole replays, and live events that never split one."""

    def __init__(self):
        self._queue = collections.deque()
        self._live = 0
        self._ready = threading.Condition()
        self._closed = False

    def replay(self, events):
        with self._ready:
            self._queue.append(events)
            self._ready.notify()

    def live(self, event):
        with self._ready:
            if self._live < LIVE_BUFFER:
                self._live += 1
                self._queue.append(event)
                self._ready.notify()

    def close(self):
        with self._ready:
            self._closed = True
            self._ready.notify()

    def events(self):
        """Yields responses until the watch is closed and everything queued before is out."""
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._queue or self._closed)
                if not self._queue:
                    return
                item = self._queue.popleft()
                self._live -= not isinstance(item, list)
            yield from item if isinstance(item, list) else [item]


class Registry:
    """One schema server's store. Every revision of an object stays a document of its own."""

    def __init__(self, seed=0, on_change=lambda found, deleted: None):
        self._documents = {}
        self._watchers = set()
        self._lock = threading.RLock()
        self._random = random.Random(seed)
        self._on_change = on_change

    def insert(self, found):
        self._check(found)
        with self._lock:
            if any(not document.delete_time for document in self._revisions(found)):
                raise AlreadyExists("schema already exists")
            self._store(found)
            self._publish(INSERT, found)

    def update(self, found):
        """Adds a revision. The older ones stay live, as on a real server."""
        self._check(found)
        with self._lock:
            self._store(found)
            self._publish(UPDATE, found)

    def delete(self, kind, identity, delete_time):
        """Marks all live revisions deleted and pushes one event for each, in no fixed order."""
        with self._lock:
            live = [document for document in self._documents.values()
                    if document.property.metadata.name == kind and document.property.id == identity
                    and not document.delete_time]
            self._random.shuffle(live)
            for document in live:
                document.delete_time = delete_time
                self._publish(DELETE, document.property, delete_time)
            if live:
                self._on_change(live[0].property, True)
            return bool(live)

    def repair(self, found, delete_time=0):
        """Stores what another server has, unless it knows something newer. Watchers are not told."""
        self._check(found)
        with self._lock:
            others = self._revisions(found)
            if any(document.property.metadata.mod_revision > found.metadata.mod_revision for document in others):
                return
            for document in others:
                document.delete_time = document.delete_time or time.time_ns()
            self._store(found, delete_time)

    def list(self, query):
        """The documents that a QueryRequest asks for, tombstones and old revisions included."""
        with self._lock:
            found = [document for document in self._documents.values() if _wanted(document, query)]
        return found[:query.limit] if query.limit else found

    def watch(self):
        watcher = Watcher()
        with self._lock:
            self._watchers.add(watcher)
        return watcher

    def unwatch(self, watcher):
        with self._lock:
            self._watchers.discard(watcher)
        watcher.close()

    def replay(self, watcher, request):
        """Queues everything that matches the request, and the mark that ends a replay."""
        with self._lock:
            documents = [document for document in self._documents.values() if _matches(request, document.property)]
            self._random.shuffle(documents)
            events = [_event(DELETE if document.delete_time else INSERT, document.property, document.delete_time,
                             request.tag_projection) for document in documents]
            watcher.replay(events + [schema.WatchSchemasResponse(event_type=REPLAY_DONE)])

    def _revisions(self, found):
        return [document for (kind, identity, _), document in self._documents.items()
                if (kind, identity) == (found.metadata.name, found.id)]

    def _store(self, found, delete_time=0):
        found.metadata.group = GROUP
        key = (found.metadata.name, found.id, found.metadata.mod_revision)
        self._documents[key] = Document(found, delete_time)
        self._on_change(found, delete_time != 0)

    def _publish(self, event_type, found, delete_time=0):
        for watcher in self._watchers:
            watcher.live(_event(event_type, found, delete_time))

    @staticmethod
    def _check(found):
        if not found.HasField("metadata"):
            raise InvalidRequest("metadata is required")
        if not found.metadata.mod_revision:
            raise InvalidRequest("mod_revision is required")


def _event(event_type, found, delete_time, projection=()):
    event = schema.WatchSchemasResponse(event_type=event_type, property=found, delete_time=delete_time,
                                        metadata_only=bool(projection))
    if projection:
        del event.property.tags[:]
        event.property.tags.extend(tag for tag in found.tags if tag.key in projection)
    return event


def _wanted(document, query):
    found = document.property
    return (not query.name or found.metadata.name == query.name) and (not query.ids or found.id in query.ids) \
        and _matches(query, found)


def _matches(request, found):
    return not request.HasField("criteria") or _holds(request.criteria, found)


def _holds(criteria, found):
    if criteria.WhichOneof("exp") == "condition":
        condition = criteria.condition
        stored, wanted = tag_of(found, condition.name), from_tag(condition.value)
        return type(stored) is type(wanted) and _OPERATIONS[condition.op](stored, wanted)
    sides = (_holds(side, found) for side in (criteria.le.left, criteria.le.right))
    return any(sides) if criteria.le.op == _LOGICAL_OR else all(sides)
