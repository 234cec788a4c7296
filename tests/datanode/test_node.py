# SPDX-License-Identifier: Apache-2.0
"""Nodes with the sample data, spoken to over gRPC."""
import pytest

import demo
import frame3
from client import Client
from clock import DAY, MINUTE, from_iso
from cluster import Cluster
from frame import ROLE_TAG
from messages import cluster as wire
from messages import measure, property_, schema, set_nanoseconds

T0 = from_iso("2026-05-04T10:00:00Z")


@pytest.fixture(scope="module")
def running():
    cluster = Cluster(3, T0, T0 - 30 * DAY, frame_versions=(3,))
    demo.load(cluster, T0, seed=1)
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture
def client(running):
    connection = Client(running.nodes["d1"].address)
    yield connection
    connection.close()


@pytest.fixture
def schema_client(running):
    connection = Client(running.nodes["d1"].schema_address)
    yield connection
    connection.close()


def request(group="sw_metric", name="service_cpm_minute", tags=("service_id",), fields=("value",), minutes=60):
    asked = measure.QueryRequest(groups=[group], name=name)
    set_nanoseconds(asked.time_range.begin, T0 - minutes * MINUTE)
    set_nanoseconds(asked.time_range.end, T0)
    if tags:
        asked.tag_projection.tag_families.add(name="default", tags=tags)
    asked.field_projection.names.extend(fields)
    return asked


def test_health_accepts_credentials(client, schema_client):
    assert client.check(metadata=[("username", ""), ("password", "")]) == 1
    assert schema_client.check() == 1


def test_current_node(running, client):
    node = client.current_node()
    assert (node.metadata.name, list(node.roles)) == ("d1", [1, 2])
    assert node.grpc_address == running.nodes["d1"].address
    assert node.property_schema_grpc_address == running.nodes["d1"].schema_address


def test_list_one_kind_of_one_group(schema_client):
    query = property_.QueryRequest(groups=["_schema"], name="measure")
    query.criteria.condition.name, query.criteria.condition.op = "group", 1
    query.criteria.condition.value.str.value = "sw_latency"
    pages = schema_client.list_schemas(query)
    assert [found.id for found in pages[0].properties] == ["measure_sw_latency/_top_n_result",
                                                           "measure_sw_latency/endpoint_latency_minute"]
    assert [tag.key for tag in pages[0].properties[0].tags] == ["group", "name", "source", "kind", "updated_at",
                                                                "created_at"]


def test_list_without_match_sends_nothing(schema_client):
    assert schema_client.list_schemas(property_.QueryRequest(name="measure", ids=["measure_no/no"])) == []


def test_watch_replays_and_ends_with_the_client(schema_client):
    requests, events = schema_client.watch()
    requests.put(schema.WatchSchemasRequest(tag_projection=["kind"]))
    replayed = []
    for event in events:
        if event.event_type == 4:
            break
        replayed.append(event)
    requests.put(None)
    assert list(events) == []
    assert all(event.metadata_only and [tag.key for tag in event.property.tags] == ["kind"] for event in replayed)
    assert len({event.property.id for event in replayed}) == len(replayed) > len(demo.SCHEMA)


def test_rows(client):
    response = client.query(request(minutes=4))
    frame = frame3.decode(response.body)
    services = next(column.cells for column in frame.columns if column.role == ROLE_TAG)
    assert response.message_id == 7
    assert frame.rows == 5 * len(set(services)) > 0 and set(services) <= set(demo.SERVICES)


def test_several_requests_on_a_stream(client):
    good = wire.SendRequest(topic="v1:internal-measure-query", message_id=2,
                            body=measure.InternalQueryRequest(request=request()).SerializeToString())
    bad = wire.SendRequest(topic="v1:internal-measure-query", body=b"\xff")
    errors = [response.error for response in client.send(wire.SendRequest(topic="v1:nothing"), bad, good)]
    assert errors == ["invalid topic", "failed to unmarshal message", ""]


def test_every_row_is_on_one_node_without_copies(running):
    frames = []
    for node in running.nodes.values():
        connection = Client(node.address)
        asked = request("sw_latency", "endpoint_latency_minute", ("endpoint_id",))
        asked.limit = 100_000
        body = connection.query(asked).body
        frames.append(frame3.decode(body).rows if body else 0)
        connection.close()
    assert sum(frames) == 60 * len(demo.SERVICES) * len(demo.ENDPOINTS)
