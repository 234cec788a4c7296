# SPDX-License-Identifier: Apache-2.0
"""BanyanDB's own acceptance suite over sample nodes, asked through a real gRPC client.

Scans (no group_by, agg or top) run on one, two and three nodes, in both frame versions, with and without
replicas. The other kinds are not answered yet: their table says why, and that refusal is checked.
"""
import datetime
import json

import grpc
import pytest
import yaml

from client import rfc3339
from compare import encoded, same_list, same_set, without
from fixtures import require_binary, running
from proto import message
from shared import HAS_SUITE, SUITE

IGNORED = ("timestamp", "version", "sid")

CLUSTERS = {f"{nodes}-nodes-v{version}-replicas-{replicas}": (nodes, version, replicas)
            for nodes in (1, 2, 3) for version in (4, 3) for replicas in (0, 1)}

NOT_YET = {
    "agg": "aggregation is refused with UNIMPLEMENTED",
    "group_by": "grouping is refused with UNIMPLEMENTED",
    "top": "top is refused with UNIMPLEMENTED",
}

CASES = json.loads((SUITE / "manifest.json").read_text())["cases"] if HAS_SUITE else []


def document_of(case):
    return yaml.safe_load((SUITE / case["input"]).read_text())


def kind_of(case):
    """"scan", "topn", or the key of NOT_YET that applies."""
    if case["kind"] == "topn":
        return "topn"
    document = document_of(case)
    for names in (("agg",), ("groupBy", "group_by"), ("top",)):
        if any(name in document for name in names):
            return names[-1]
    return "scan"


SCANS = {case["name"]: case for case in CASES if kind_of(case) == "scan"}
TOPNS = {case["name"]: case for case in CASES if kind_of(case) == "topn"}
OTHERS = {case["name"]: case for case in CASES if kind_of(case) not in ("scan", "topn")}


def request_of(case, t0, **more):
    begin = int(datetime.datetime.fromisoformat(t0.replace("Z", "+00:00")).timestamp() * 1000) + case["offset_ms"]
    name = "measure.v1.TopNRequest" if case["kind"] == "topn" else "measure.v1.QueryRequest"
    return message(name, {**document_of(case), **more, "stages": case["flags"]["stages"],
                          "timeRange": {"begin": rfc3339(begin), "end": rfc3339(begin + case["duration_ms"])}})


def wanted_points(case):
    document = yaml.safe_load((SUITE / case["want"]).read_text()) or {}
    points = document.get("dataPoints", document.get("data_points", []))
    return [without(message("measure.v1.DataPoint", point), *IGNORED) for point in points]


@pytest.fixture(scope="module", params=CLUSTERS.values(), ids=CLUSTERS.keys())
def cluster(request):
    require_binary()
    nodes, version, replicas = request.param
    options = ["--suite", SUITE, "--nodes", nodes, "--frame-version", version, "--replicas", replicas]
    versions = "4" if version == 4 else "3,4"
    with running(options, [f"--measure-frame-versions={versions}"]) as (sample, liaison):
        with liaison.client() as client:
            yield sample, client


def check_answer(case, response):
    flags = case["flags"]
    assert not response.HasField("trace")
    assert not response.group_statuses
    for point in response.data_points:
        if point.HasField("timestamp"):
            assert point.version > 0 and point.sid > 0
    got = [without(point, *IGNORED) for point in response.data_points]
    if flags["want_empty"]:
        assert not got
    else:
        (same_set if flags["dis_order"] else same_list)(got, wanted_points(case))


def check_traced(response, case):
    """The same request with trace: true brings the same rows and a trace."""
    assert len(response.trace.spans) >= 1
    response.ClearField("trace")
    check_answer(case, response)


@pytest.mark.skipif(not HAS_SUITE, reason="the acceptance suite is not here (BYDB_SHARED)")
@pytest.mark.parametrize("name", SCANS)
def test_scan(cluster, name):
    nodes, client = cluster
    case = SCANS[name]
    request = request_of(case, nodes.t0)
    if case["flags"]["want_err"]:
        with pytest.raises(grpc.RpcError):
            client.query(request)
        return
    check_answer(case, client.query(request))
    check_traced(client.query(request_of(case, nodes.t0, trace=True)), case)


def check_lists(case, response):
    """Which items come is compared; that the best ones come first is not, in the suite, but here."""
    if case["flags"]["want_empty"]:
        assert not response.lists
        return
    document = yaml.safe_load((SUITE / case["want"]).read_text())
    wanted = [message("measure.v1.TopNList.Item", item) for found in document["lists"] for item in found["items"]]
    (found,) = response.lists
    assert found.timestamp.seconds > 0
    assert sorted(map(encoded, found.items)) == sorted(map(encoded, wanted)), f"{found.items} for {wanted}"
    values = [item.value.int.value + item.value.float.value for item in found.items]
    assert values == sorted(values, reverse=document_of(case)["fieldValueSort"] == 1)


@pytest.mark.skipif(not HAS_SUITE, reason="the acceptance suite is not here (BYDB_SHARED)")
@pytest.mark.parametrize("name", TOPNS)
def test_topn(cluster, name):
    nodes, client = cluster
    case = TOPNS[name]
    plain, traced = (client.topn(request_of(case, nodes.t0, trace=trace)) for trace in (False, True))
    check_lists(case, plain)
    check_lists(case, traced)
    assert not plain.HasField("trace") and len(traced.trace.spans) >= 1


@pytest.fixture(scope="module")
def plain_cluster():
    require_binary()
    with running(["--suite", SUITE, "--nodes", 2]) as (sample, liaison):
        with liaison.client() as client:
            yield sample, client


@pytest.mark.skipif(not HAS_SUITE, reason="the acceptance suite is not here (BYDB_SHARED)")
@pytest.mark.parametrize("name", OTHERS)
def test_not_yet(plain_cluster, name):
    nodes, client = plain_cluster
    case = OTHERS[name]
    assert kind_of(case) in NOT_YET
    request = request_of(case, nodes.t0)
    with pytest.raises(grpc.RpcError) as refused:
        client.query(request)
    assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED
