# SPDX-License-Identifier: Apache-2.0
"""Which nodes are asked: stages of the request or of the group, selectors over labels, --data-node-selector.

d1 is hot, d2 and d3 are warm, d4 is cold and has no copy of anything in its stage.
"""
import time

import grpc
import pytest

from asking import ask, query
from client import rfc3339
from fixtures import Cluster, require_binary, running
from process import wait_until
from shared import HAS_SUITE, SUITE

UNKNOWN = grpc.StatusCode.UNKNOWN
DAY = {"unit": "UNIT_DAY", "num": 1}
WEEK = {"unit": "UNIT_DAY", "num": 7}
LABELS = {"d1": ["type=hot", "rack=a"], "d2": ["type=warm", "rack=a"], "d3": ["type=warm", "rack=b"],
          "d4": ["type=cold"]}
NODES = ["--nodes", 4, *(word for name, labels in LABELS.items() for label in labels
                         for word in ("--label", f"{name}:{label}"))]

pytestmark = pytest.mark.sanitize


def stage(name, selector, replicas=0):
    return {"name": name, "shardNum": 1, "segmentInterval": DAY, "ttl": WEEK, "nodeSelector": selector,
            "replicas": replicas}


GROUPS = {
    "plain": {},
    "staged": {"stages": [stage("warm", "type=warm", 1), stage("cold", " type = cold ")]},
    "defaulted": {"stages": [stage("warm", "type=warm"), stage("cold", "type=cold")], "defaultStages": ["Warm"]},
    "picky": {"stages": [stage("one", "type in (warm, cold),rack"), stage("two", "type notin (warm,hot)"),
                         stage("three", "!rack"), stage("four", "rack!=a"), stage("none", "type=absent")]},
    "wrong": {"stages": [stage("bad", "type in warm")]},
}


def load_groups(nodes):
    for name, options in GROUPS.items():
        nodes.control(schema=[{"action": "insert", "kind": kind, "object": document} for kind, document in (
            ("group", {"metadata": {"name": name}, "catalog": "CATALOG_MEASURE",
                       "resourceOpts": {"shardNum": 4, "segmentInterval": DAY, "ttl": WEEK, **options}}),
            ("measure", {"metadata": {"group": name, "name": "thing"}, "entity": {"tagNames": ["id"]},
                         "interval": "1m", "tagFamilies": [{"name": "default", "tags": [
                             {"name": "id", "type": "TAG_TYPE_STRING"}]}],
                         "fields": [{"name": "value", "fieldType": "FIELD_TYPE_INT",
                                     "encodingMethod": "ENCODING_METHOD_GORILLA",
                                     "compressionMethod": "COMPRESSION_METHOD_ZSTD"}]}))])


def thing(groups, *stages):
    return query({**ask(groups, "thing", ["default.id"], ["value"]), "stages": list(stages), "timeRange": {
        "begin": rfc3339(int(time.time() * 1000)), "end": rfc3339(4_000_000_000_000)}})


def who_is_asked(cluster, request):
    """{group: names}, or the error's text."""
    cluster.nodes.control(clear=None)
    code, text = cluster.client.query_error(request)
    if code is not None:
        assert code == UNKNOWN, (code, text)
        return text
    asked = {}
    for name, stats in cluster.nodes.stats().items():
        for found in stats["requests"]:
            asked.setdefault(found["group"], []).append(name)
    return {group: "".join(sorted(names)) for group, names in asked.items()}


@pytest.fixture(scope="module")
def shared():
    require_binary()
    with running(["--empty", *NODES], ["--data-node-selector=type=hot"], before=load_groups) as found:
        yield Cluster(*found)


ASKED = {
    "no stages": (("plain",), {"plain": "d1d2d3d4"}),
    "by name": (("staged", "warm"), {"staged": "d2d3"}),
    "in any case": (("staged", "WARM"), {"staged": "d2d3"}),
    "several": (("staged", "cold", "warm"), {"staged": "d2d3d4"}),
    "hot is the flag's": (("staged", "hot"), {"staged": "d1"}),
    "hot and another": (("staged", "hot", "cold"), {"staged": "d1d4"}),
    "unknown ones add nothing": (("staged", "warm", "ancient"), {"staged": "d2d3"}),
    "the group's default": (("defaulted",), {"defaulted": "d2d3"}),
    "the request overrides it": (("defaulted", "cold"), {"defaulted": "d4"}),
    "a set, and a label": (("picky", "one"), {"picky": "d2d3"}),
    "not in a set": (("picky", "two"), {"picky": "d4"}),
    "a label is absent": (("picky", "three"), {"picky": "d4"}),
    "another value or none": (("picky", "four"), {"picky": "d3d4"}),
    "groups of their own": (("staged defaulted", "cold"), {"staged": "d4", "defaulted": "d4"}),
}


@pytest.mark.parametrize("name", ASKED)
def test_who_is_asked(shared, name):
    (groups, *stages), wanted = ASKED[name]
    assert who_is_asked(shared, thing(groups, *stages)) == wanted


def test_who_cannot_be_asked(shared):
    missing = who_is_asked(shared, thing("staged"))
    assert "no stage found in request or default stages in resource opts" in missing
    assert "no stage found" in who_is_asked(shared, thing("staged", "ancient"))
    assert "no nodes match the selector" in who_is_asked(shared, thing("picky", "none"))
    assert "set operations require parenthesized values" in who_is_asked(shared, thing("wrong", "bad"))


def test_only_nodes_of_the_stage_are_missed(start):
    """A stage keeps its own number of copies."""
    cluster = start(["--empty", *NODES], before=load_groups)
    warm, cold, plain = thing("staged", "warm"), thing("staged", "cold"), thing("plain")

    def lacks(request):
        return cluster.client.query_with_trailers(request)[1].get("banyandb-incomplete")
    assert [lacks(request) for request in (warm, cold, plain)] == [None, None, None]
    cluster.nodes.control(stop=["d3"])
    cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node="d3")
    assert [lacks(request) for request in (warm, cold, plain)] == [None, None, "d3"]
    assert lacks(thing("defaulted")) == "d3", "this group's warm stage has no copies"
    cluster.nodes.control(stop=["d4"])
    cluster.liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node="d4")
    code, text = cluster.client.query_error(cold)
    assert code == UNKNOWN and "no active nodes" in text, text
    assert lacks(warm) is None


def test_labels_that_change_with_a_restart(start):
    cluster = start(["--empty", *NODES], before=load_groups)
    assert who_is_asked(cluster, thing("staged", "cold")) == {"staged": "d4"}
    cluster.nodes.control(stop=["d2"], node={"d2": {"labels": {"type": "cold"}}}, start={"d2": {}})
    wait_until(lambda: who_is_asked(cluster, thing("staged", "cold")) == {"staged": "d2d4"}, 30, "the new label")
    assert who_is_asked(cluster, thing("staged", "warm")) == {"staged": "d3"}


@pytest.mark.skipif(not HAS_SUITE, reason="the acceptance suite is not there")
def test_the_suite_with_stages(start):
    """Its groups get a warm stage and nothing else: rows come from the warm nodes alone."""
    cluster = start(["--suite", SUITE, "--suite-variant", "alt_group_stages", *NODES])
    request = ask("sw_metric", "service_cpm_minute", ["default.id"], ["value"], limit=1000)
    assert "no stage found" in cluster.client.query_error(query(request))[1]
    warm = cluster.client.query(query({**request, "stages": ["warm"]}))
    stats = cluster.nodes.stats()
    assert [name for name in sorted(stats) if stats[name]["requests"]] == ["d2", "d3"]
    assert len(warm.data_points) > 0
