# SPDX-License-Identifier: Apache-2.0
"""The schema objects a node knows: groups, measures, index rules, bindings and topN rules."""
import json
import re
import threading
from dataclasses import dataclass
from functools import cached_property

from google.protobuf import json_format

import messages
from clock import DAY, MILLISECOND, MINUTE, SECOND
from messages import common, database

KIND_MESSAGES = {
    "group": common.Group,
    "measure": database.Measure,
    "indexRule": database.IndexRule,
    "indexRuleBinding": database.IndexRuleBinding,
    "topNAggregation": database.TopNAggregation,
}
"""Kind string of the registry -> message; other kinds are stored by the registry but mean nothing to a query."""

CATALOG_MEASURE = 2
TAG_STRING, TAG_INT, TAG_STRING_ARRAY, TAG_INT_ARRAY, TAG_BINARY, TAG_TIMESTAMP = range(1, 7)
FIELD_STRING, FIELD_INT, FIELD_BINARY, FIELD_FLOAT = range(1, 5)
_UNITS = {"ms": MILLISECOND, "s": SECOND, "m": MINUTE, "h": 60 * MINUTE}
_INTERVAL_UNIT = {1: 60 * MINUTE, 2: DAY}


def parse(kind, document):
    """A schema object from proto JSON (text or parsed, camel or snake case), or a copy of a message."""
    if isinstance(document, KIND_MESSAGES[kind]):
        return KIND_MESSAGES[kind].FromString(document.SerializeToString())
    text = document if isinstance(document, str) else json.dumps(document)
    return json_format.Parse(text, KIND_MESSAGES[kind](), ignore_unknown_fields=True)


def interval_nanoseconds(rule):
    """The length of an IntervalRule such as one day."""
    return _INTERVAL_UNIT[rule.unit] * rule.num


@dataclass(frozen=True)
class Tag:
    family: str
    name: str
    type: int


class MeasureView:
    """One measure with what its bindings add to it. Built once per change of the catalog."""

    def __init__(self, group, measure, rules):
        self.group, self.measure, self.rules = group, measure, rules
        self.name = measure.metadata.name
        self.tags = [Tag(family.name, tag.name, tag.type) for family in measure.tag_families for tag in family.tags]
        self.fields = {field.name: field.field_type for field in measure.fields}
        self.entity = list(measure.entity.tag_names)
        self.sharding_key = list(measure.sharding_key.tag_names) or self.entity
        self.index_mode = measure.index_mode

    @cached_property
    def tag_by_key(self):
        return {(tag.family, tag.name): tag for tag in self.tags}

    @cached_property
    def tag_by_name(self):
        """Tag name -> its first tag in schema order, the one that conditions and rules mean."""
        return {tag.name: tag for tag in reversed(self.tags)}

    @cached_property
    def rule_by_tag(self):
        return {tag: rule for rule in self.rules for tag in rule.tags}

    @cached_property
    def rule_by_name(self):
        return {rule.metadata.name: rule for rule in self.rules}

    @cached_property
    def interval(self):
        """Nanoseconds between two points of a series, the width of a topN bucket."""
        parts = re.findall(r"(\d+)(ms|h|m|s)", self.measure.interval)
        return sum(int(number) * _UNITS[unit] for number, unit in parts) or MINUTE

    @property
    def shard_num(self):
        return self.group.resource_opts.shard_num

    @property
    def segment_interval(self):
        return interval_nanoseconds(self.group.resource_opts.segment_interval)

    @property
    def ttl(self):
        return interval_nanoseconds(self.group.resource_opts.ttl)


class Catalog:
    """All schema objects by kind, group and name. Thread-safe: queries read while schema changes come in."""

    def __init__(self):
        self._objects = {kind: {} for kind in KIND_MESSAGES}
        self._views = {}
        self._lock = threading.RLock()

    def put(self, kind, schema_object):
        metadata = schema_object.metadata
        with self._lock:
            self._objects[kind][metadata.group, metadata.name] = schema_object
            self._views.clear()

    def remove(self, kind, group, name):
        """Forgets one object; a group takes everything in it along."""
        with self._lock:
            self._objects[kind].pop((group, name), None)
            if kind == "group":
                for objects in self._objects.values():
                    for key in [key for key in objects if key[0] == name]:
                        del objects[key]
            self._views.clear()

    def get(self, kind, group, name):
        with self._lock:
            return self._objects[kind].get((group, name))

    def all(self, kind):
        with self._lock:
            return list(self._objects[kind].values())

    def groups(self):
        """Groups by name."""
        return {group.metadata.name: group for group in self.all("group")}

    def measure(self, group, name):
        """The MeasureView of a measure, or None when the group or the measure is unknown."""
        with self._lock:
            key = (group, name)
            if key not in self._views:
                owner, found = self.get("group", "", group), self.get("measure", group, name)
                known = owner and found
                self._views[key] = MeasureView(owner, found, self._bound_rules(group, name)) if known else None
            return self._views[key]

    def _bound_rules(self, group, measure):
        bindings = [binding for (owner, _), binding in sorted(self._objects["indexRuleBinding"].items())
                    if owner == group and binding.subject.name == measure
                    and binding.subject.catalog == CATALOG_MEASURE]
        found = (self.get("indexRule", group, rule) for binding in bindings for rule in binding.rules)
        return [rule for rule in found if rule]


def stamp(schema_object, revision, created_at):
    """Gives an object the revision and the two times that a registry gives when it stores one."""
    schema_object.metadata.mod_revision = revision
    messages.set_nanoseconds(schema_object.updated_at, revision)
    messages.set_nanoseconds(schema_object.created_at, created_at)
    return schema_object
