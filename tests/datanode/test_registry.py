# SPDX-License-Identifier: Apache-2.0
"""Revisions, tombstones, replays and live events of a schema server."""
import grpc
import pytest

from client import Client
from clock import DAY, from_iso
from cluster import Cluster
from messages import common, property_, schema, set_nanoseconds
from registry import DELETE, INSERT, REPLAY_DONE, UPDATE, Registry, Watcher, tag_of, to_property
from schema import parse, stamp
from test_placement import group

T0 = from_iso("2026-03-02T08:00:00Z")
DELETE_TIME = T0 + 500


def stored(revision, name="g", replicas=0):
    return to_property("group", stamp(parse("group", group(name, 1, replicas)), revision, T0))


def criteria(name, op, value):
    request = schema.WatchSchemasRequest()
    condition = request.criteria.condition
    condition.name, condition.op = name, op
    kind = condition.value.int if isinstance(value, int) else condition.value.str
    kind.value = value
    return request


@pytest.fixture
def registry():
    return Registry()


@pytest.fixture
def connection(registry):
    """A client of a node whose schema port serves a cluster's registry, and that registry."""
    cluster = Cluster(1, T0, T0 - DAY)
    node = cluster.nodes["d1"]
    node.start()
    client = Client(node.schema_address)
    yield client, node.registry
    client.close()
    node.stop()


def replayed(registry, request=None):
    """(event, revision, delete time) of a replay, in the order of revisions."""
    watcher = Watcher()
    registry.replay(watcher, request or schema.WatchSchemasRequest())
    watcher.close()
    events = list(watcher.events())
    assert events.pop().event_type == REPLAY_DONE
    return sorted((event.property.metadata.mod_revision - T0, event.event_type, event.delete_time) for event in events)


def test_an_update_leaves_the_older_revision_live(registry):
    registry.insert(stored(T0 + 1))
    registry.update(stored(T0 + 2, replicas=1))
    assert replayed(registry) == [(1, INSERT, 0), (2, INSERT, 0)]
    assert replayed(registry, criteria("updated_at", 4, T0 + 1)) == [(2, INSERT, 0)]


def test_a_delete_marks_all_revisions_and_keeps_their_times(registry):
    registry.insert(stored(T0 + 1))
    registry.update(stored(T0 + 2))
    assert registry.delete("group", "group_g", DELETE_TIME)
    assert not registry.delete("group", "group_g", DELETE_TIME)
    assert replayed(registry) == [(1, DELETE, DELETE_TIME), (2, DELETE, DELETE_TIME)]
    assert replayed(registry, criteria("updated_at", 4, T0 + 2)) == []
    registry.insert(stored(T0 + 3))


def test_live_events(registry):
    watcher = registry.watch()
    registry.insert(stored(T0 + 1))
    registry.update(stored(T0 + 2))
    registry.repair(stored(T0 + 3))
    registry.delete("group", "group_g", DELETE_TIME)
    registry.unwatch(watcher)
    registry.insert(stored(T0 + 4, name="unseen"))
    kinds = [event.event_type for event in watcher.events()]
    assert kinds == [INSERT, UPDATE, DELETE]


def test_repair_is_silent_and_does_not_go_back(registry):
    registry.insert(stored(T0 + 5))
    registry.repair(stored(T0 + 4))
    assert replayed(registry) == [(5, INSERT, 0)]
    registry.repair(stored(T0 + 6))
    (old, event, delete_time), (new, *_) = replayed(registry)
    assert (old, event, new) == (5, DELETE, 6) and delete_time > T0


def test_a_slow_watcher_loses_events_beyond_its_buffer(registry):
    watcher = registry.watch()
    for number in range(600):
        registry.insert(stored(T0 + number + 1, name=f"g{number}"))
    registry.unwatch(watcher)
    assert len(list(watcher.events())) == 512


def test_insert_of_what_is_there(connection):
    client, _ = connection
    client.management("InsertSchema", schema.InsertSchemaRequest(property=stored(T0 + 1)), schema.InsertSchemaResponse)
    with pytest.raises(grpc.RpcError) as refusal:
        client.management("InsertSchema", schema.InsertSchemaRequest(property=stored(T0 + 2)),
                          schema.InsertSchemaResponse)
    assert (refusal.value.code(), refusal.value.details()) == (grpc.StatusCode.ALREADY_EXISTS, "schema already exists")


def test_requests_without_a_revision_are_refused(connection):
    client, _ = connection
    empty = property_.Property(metadata=common.Metadata(name="group"), id="group_g")
    with pytest.raises(grpc.RpcError) as refusal:
        client.management("UpdateSchema", schema.UpdateSchemaRequest(property=empty), schema.UpdateSchemaResponse)
    assert refusal.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert refusal.value.details().startswith("invalid request: ")


def test_delete_over_the_wire(connection):
    client, registry = connection
    registry.insert(stored(T0 + 1))
    asked = schema.DeleteSchemaRequest(delete=property_.DeleteRequest(group="_schema", name="group", id="group_g"))
    set_nanoseconds(asked.update_at, DELETE_TIME)
    assert client.management("DeleteSchema", asked, schema.DeleteSchemaResponse).found
    assert not client.management("DeleteSchema", asked, schema.DeleteSchemaResponse).found
    page, = client.list_schemas(property_.QueryRequest(name="group", ids=["group_g"]))
    assert list(page.delete_times) == [DELETE_TIME]


def test_long_lists_come_in_pages_of_a_hundred(connection):
    client, registry = connection
    for number in range(250):
        registry.insert(stored(T0 + number, name=f"g{number:03d}"))
    query = property_.QueryRequest(name="group")
    assert [len(page.properties) for page in client.list_schemas(query)] == [100, 100, 51]
    query.limit = 7
    assert [len(page.delete_times) for page in client.list_schemas(query)] == [7]


def test_watch_pushes_live_changes_between_replays(connection):
    client, registry = connection
    requests, events = client.watch()
    requests.put(schema.WatchSchemasRequest())
    assert [next(events).event_type for _ in range(2)] == [INSERT, REPLAY_DONE]
    registry.insert(stored(T0 + 1))
    pushed = next(events)
    assert (pushed.event_type, tag_of(pushed.property, "name")) == (INSERT, "g")
    requests.put(criteria("updated_at", 4, T0))
    assert [next(events).event_type for _ in range(2)] == [INSERT, REPLAY_DONE]
    requests.put(None)
    assert not list(events)


def test_changes_reach_the_catalog_of_the_nodes():
    cluster = Cluster(2, T0, T0 - DAY)
    cluster.change("insert", "group", group("g", 1, 0), T0)
    cluster.change("update", "group", group("g", 1, 1), T0 + 1, nodes=["d2"])
    assert cluster.catalog.get("group", "", "g").resource_opts.replicas == 1
    cluster.change("delete", "group", group("g", 1, 1), T0 + 2)
    assert cluster.catalog.get("group", "", "g") is None
