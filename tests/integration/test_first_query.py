# SPDX-License-Identifier: Apache-2.0
"""What a client sees when all is well."""
import subprocess

import grpc
import pytest

from asking import CPM, CPM_ROWS, DESC, LATENCY, LATENCY_ROWS, ask, by, query
from client import HEALTH
from liaison import binary
from process import wait_until
from proto import parse

pytestmark = pytest.mark.sanitize


def test_rows_of_all_nodes(cluster):
    response, trailers = cluster.client.query_with_trailers(query(ask(*LATENCY, limit=10_000)))
    assert len(response.data_points) == LATENCY_ROWS
    assert "banyandb-incomplete" not in trailers
    asked = cluster.nodes.stats()
    assert {name: stats["sends"] for name, stats in asked.items()} == {"d1": 1, "d2": 1, "d3": 1}


def test_copies_are_merged(cluster):
    response = cluster.client.query(query(ask(*CPM, limit=10_000)))
    assert len(response.data_points) == CPM_ROWS
    assert len({(point.sid, point.timestamp.seconds) for point in response.data_points}) == CPM_ROWS


def test_unknown_paths(cluster):
    for path in ("/banyandb.measure.v1.MeasureService/Nothing", "/nothing.Service/Query",
                 "/banyandb.stream.v1.StreamService/Query", "/grpc.health.v1.Health/Nothing"):
        with pytest.raises(grpc.RpcError) as refused:
            cluster.client.call(path, b"")
        assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED, path
        assert refused.value.details(), path


def test_health(cluster):
    assert cluster.client.health() == "SERVING"
    with pytest.raises(grpc.RpcError) as refused:
        cluster.client.health("banyandb.measure.v1.MeasureService")
    assert refused.value.code() == grpc.StatusCode.NOT_FOUND
    assert refused.value.details() == "unknown service"


def test_health_watch(cluster):
    watch = cluster.client.channel.unary_stream(HEALTH.replace("Check", "Watch"))(b"", timeout=10)
    assert parse("grpc.health.v1.HealthCheckResponse", next(watch)).status == 1
    watch.cancel()


def test_http_side(cluster):
    for path, status in (("/healthz", 200), ("/metrics", 200), ("/nodes", 200), ("/nothing", 404)):
        found, text = cluster.liaison.get(path)
        assert found == status and text.endswith("\n") and not text.endswith("\n\n"), (path, found, text[-80:])
    assert cluster.liaison.metric("bydb_data_nodes", state="listed") == 3


def test_queries_are_counted(cluster):
    def counted(name):
        return cluster.liaison.metric(f"banyandb_liaison_grpc_{name}", group="sw_metric", method="query")
    started, failed = counted("total_started"), counted("total_err")
    cluster.client.query(query(ask(*CPM)))
    cluster.client.query_error(query(ask("sw_metric", "nothing", ["a.b"])))
    wait_until(lambda: counted("total_finished") == started + 2, what="two finished queries")
    assert counted("total_started") == started + 2
    assert counted("total_err") == failed + 1


def test_the_same_question_twice(cluster):
    for document in (ask(*CPM), ask(*LATENCY, orderBy=by(sort=DESC), limit=500), ask(*CPM, orderBy=by("layer"))):
        answers = {cluster.client.query_bytes(query(document)) for _ in range(5)}
        assert len(answers) == 1


def test_many_queries_on_one_connection(cluster):
    request = query(ask(*CPM, limit=5)).SerializeToString()
    calls = [cluster.client.method("/banyandb.measure.v1.MeasureService/Query").future(request, timeout=30)
             for _ in range(200)]
    assert len({call.result() for call in calls}) == 1


def test_groups_sums_and_tops(cluster):
    """Each from the rows: the values are computed here, too."""
    rows = cluster.client.query(query(ask(*CPM, limit=10_000))).data_points
    values = sorted(point.fields[0].value.int.value for point in rows)
    summed = cluster.client.query(query(ask(*CPM, agg={"function": "AGGREGATION_FUNCTION_SUM", "fieldName": "value"})))
    assert [point.fields[0].value.int.value for point in summed.data_points] == [sum(values)]
    best = cluster.client.query(query(ask(*CPM, top={"number": 3, "fieldName": "value", "fieldValueSort": DESC})))
    assert [point.fields[0].value.int.value for point in best.data_points] == values[:-4:-1]
    layers = {point.tag_families[0].tags[0].value.str.value for point in rows}
    grouped = cluster.client.query(query(ask(*CPM, groupBy={"tagProjection": {"tagFamilies": [
        {"name": point_family(rows), "tags": [rows[0].tag_families[0].tags[0].key]}]}}, limit=1000)))
    assert {point.tag_families[0].tags[0].value.str.value for point in grouped.data_points} == layers
    assert len(grouped.data_points) == len(layers)


def point_family(rows):
    return rows[0].tag_families[0].name


def test_command_line():
    said = subprocess.run([binary(), "--version"], capture_output=True, text=True, check=True, timeout=20)
    assert said.stdout.startswith("bydb-liaison ")
    said = subprocess.run([binary(), "--help"], capture_output=True, text=True, check=True, timeout=20)
    for flag in ("--grpc-port", "--node-discovery-file-path", "--measure-frame-versions", "--ports-file"):
        assert flag in said.stdout
    for wrong, word in (("--nothing", "nothing"), ("--grpc-port=x", "grpc-port"), ("--incomplete=maybe", "incomplete"),
                        ("--dst-broadcast-timeout=5", "dst-broadcast-timeout"), ("--tls", "tls")):
        refused = subprocess.run([binary(), wrong], capture_output=True, text=True, check=False, timeout=20)
        assert refused.returncode == 64, wrong
        assert word in refused.stderr and refused.stderr.count("\n") == 1, refused.stderr
        assert refused.stderr.endswith("; bydb-liaison --help explains every flag\n")
