# SPDX-License-Identifier: Apache-2.0
"""Odd but valid schemas: a tag name in two families, arrays to sort by, times as tags, index mode in one of two groups.

Answers are compared with what the oracle computes from the rows.
"""
import grpc
import pytest

import awkward
from asking import DESC, EQ, GE, HAVING, IN, NOT_HAVING, NOT_IN, ask, both, by, either, execution, query, where
from client import rfc3339, time_range
from compare import same_list, without
from fixtures import require_binary, running
from oracle import Oracle
from oracle_groups import folded
from process import wait_until

T0 = "2026-03-02T08:00:00Z"
MINUTE, MILLISECOND = awkward.MINUTE, 1_000_000
ALL = time_range(awkward.T0 // MILLISECOND - 600_000, awkward.T0 // MILLISECOND)
GROUPS = ("one", "two")
CLUSTERS = {"1-node": ["--nodes", 1], "3-nodes": ["--nodes", 3],
            "3-nodes-of-two-versions": ["--nodes", 3, "--frame-version", "mixed"],
            "2-nodes-with-all-rows-each": ["--nodes", 2, "--replicas", 1]}

TWINS = {"a": {"id": "STRING", "t": "STRING"}, "b": {"t": "STRING", "u": "INT"}}
LISTS = {"default": {"id": "STRING", "numbers": "INT_ARRAY", "words": "STRING_ARRAY"}}
TIMES = {"default": {"id": "STRING", "at": "TIMESTAMP", "plain": "INT"}}
THING = {"default": {"id": "STRING"}, "idx": {"name": "STRING", "floor": "INT"}}

NUMBERS = [(3, 1), None, (), (-5,), (2**63 - 1,), (3,), (-2**63, 7), (0,)]
WORDS = [("b", "a"), ("",), None, ("a",), (), ("a", "b"), ("Z",), ("ü", "")]


def schemas():
    for group in GROUPS:
        yield "group", {"metadata": {"name": group}, "catalog": "CATALOG_MEASURE", "resourceOpts": {
            "shardNum": 3, "replicas": 0, "segmentInterval": {"unit": "UNIT_DAY", "num": 1},
            "ttl": {"unit": "UNIT_DAY", "num": 7}}}
    for group in GROUPS:
        yield "measure", awkward._measure(group, "twins", "id", TWINS, {"v": "INT"})
        yield "measure", awkward._measure(group, "lists", "id", LISTS, {"v": "FLOAT"})
        yield "measure", awkward._measure(group, "times", "id", TIMES, {"v": "INT"})
        yield "measure", awkward._measure(group, "device", "id", THING, {}, indexMode=True)
        # an ordinary measure in one group, in index mode in the other
        mode = {"indexMode": True} if group == "two" else {}
        yield "measure", awkward._measure(group, "thing", "id", THING, {} if mode else {"v": "INT"}, **mode)
        for tag in ("t", "numbers", "words", "name", "floor"):
            yield "indexRule", awkward._rule(group, tag)
        for measure, rules in (("twins", ["t"]), ("lists", ["numbers", "words"]), ("device", ["name", "floor"]),
                               ("thing", ["name", "floor"])):
            yield "indexRuleBinding", awkward._binding(group, measure, rules)


def point(minute, tags, fields):
    return awkward.Point(awkward.T0 - minute * MINUTE, tags, fields)


def points(group, measure):
    """Indexed tags are the same in all rows of a series; of two tags of one name a node shows the indexed one's value."""
    shift = GROUPS.index(group)
    for number in range(8):
        key = f"k{number}"
        if measure == "twins":
            yield from (point(minute, {("a", "id"): key, ("a", "t"): f"t{(number + shift) % 4}", ("b", "t"): f"t{(number + shift) % 4}",
                                       ("b", "u"): number}, {"v": 10 * number + minute}) for minute in range(3))
        elif measure == "lists":
            yield from (point(minute, {("default", "id"): key, ("default", "numbers"): NUMBERS[number],
                                       ("default", "words"): WORDS[number]}, {"v": number + minute / 4})
                        for minute in range(2))
        else:
            tags = {("default", "id"): key, ("idx", "name"): [None, "", "x", "Y"][(number + shift) % 4],
                    ("idx", "floor"): [3, None, 0, -1][number % 4]}
            yield point(number % 3, tags, {"v": number} if (measure, group) == ("thing", "one") else {})


WRITTEN = [(group, measure) for group in GROUPS for measure in ("twins", "lists", "device", "thing")]


def write(nodes):
    nodes.control(schema=[{"action": "insert", "kind": kind, "object": document} for kind, document in schemas()])
    nodes.control(write=[{"group": group, "measure": measure, "rows": [
        {**awkward._row_document(one), "timestamp": rfc3339(one.timestamp // MILLISECOND)}]}
        for group, measure in WRITTEN for one in points(group, measure)])


@pytest.fixture(scope="module", params=CLUSTERS, ids=list(CLUSTERS))
def cluster(request):
    """(client, oracle)"""
    require_binary()
    oracle = Oracle()
    for kind, document in schemas():
        oracle.load(kind, document)
    for group, measure in WRITTEN:
        oracle.write(group, measure, list(points(group, measure)))
    options = ["--empty", "--t0", T0, *CLUSTERS[request.param]]
    with running(options, ["--measure-frame-versions=3,4"], before=write) as (_, liaison), liaison.client() as client:
        yield client, oracle


def asked(document):
    return query({"timeRange": ALL, "limit": 1000, **document})


TWIN_TAGS = ["a.id", "a.t", "b.t", "b.u"]
ROWS = {
    "both tags of a name": ask("one", "twins", TWIN_TAGS, ["v"]),
    "ordered by the first, the second is shown": ask("one", "twins", ["b.t", "b.u"], ["v"], orderBy=by("t")),
    "ordered by the first, descending, nothing of its family": ask("one", "twins", ["b.t"], orderBy=by("t", DESC)),
    "ordered by what is shown": ask("one", "twins", ["a.t", "b.t"], ["v"], orderBy=by("t")),
    "two groups, the hidden one of the two": ask("one two", "twins", ["b.t", "a.id"], ["v"], orderBy=by("t", DESC)),
    "by int arrays": ask("one", "lists", ["default.numbers"], ["v"], orderBy=by("numbers")),
    "by int arrays, descending": ask("two", "lists", ["default.id"], ["v"], orderBy=by("numbers", DESC)),
    "by string arrays": ask("one", "lists", ["default.words"], ["v"], orderBy=by("words")),
    "two groups by arrays": ask("two one", "lists", ["default.words", "default.numbers"], orderBy=by("words", DESC)),
    "arrays that have a number": ask("one", "lists", ["default.numbers"], ["v"], criteria=where("numbers", HAVING, 3)),
    "arrays that have two numbers": ask("one two", "lists", ["default.id"], ["v"],
                                        criteria=where("numbers", HAVING, [1, 3])),
    "arrays that have not both": ask("one", "lists", ["default.id"], ["v"],
                                     criteria=where("numbers", NOT_HAVING, [3, 1])),
    "arrays that have any": ask("two", "lists", ["default.words"], criteria=where("words", IN, ["a", "Z"])),
    "arrays that have none": ask("two", "lists", ["default.words"], criteria=where("words", NOT_IN, ["a", "Z"])),
    "arrays that have the empty string": ask("two", "lists", ["default.words"], criteria=where("words", HAVING, "")),
    "arrays by a condition under another": ask("one", "lists", ["default.id"], ["v"], orderBy=by("numbers"), criteria=both(
        where("id", IN, ["k0", "k1", "k5", "k6"]), either(where("words", HAVING, ["a"]),
                                                         where("numbers", NOT_HAVING, 7)))),
    "a time beside other tags": ask("one", "times", ["default.plain"], ["v"]),
    "index mode in two groups": ask("one two", "device", ["default.id", "idx.name", "idx.floor"]),
    "index mode in two groups by a rule": ask("two one", "device", ["default.id", "idx.name"], orderBy=by("floor")),
    "index mode in two groups, a page": ask("one two", "device", ["default.id"], orderBy=by("name", DESC), offset=3,
                                            limit=7),
    "index mode in two groups, newest first": ask("one two", "device", ["default.id"], orderBy=by(sort=DESC), limit=9),
    "index mode in one of two groups": ask("one two", "thing", ["default.id", "idx.name"], ["v"]),
    "index mode in one of two groups by a rule": ask("two one", "thing", ["default.id"], ["v"], orderBy=by("floor")),
    "index mode in one of two groups, criteria": ask("two one", "thing", ["default.id"], ["v"],
                                                     criteria=where("floor", GE, 0)),
    "index mode, an entity that there is not": ask("one", "device", ["default.id"], criteria=where("id", EQ, "no")),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ROWS)
def test_rows(cluster, name):
    client, oracle = cluster
    for trace in (False, True):
        request = asked({**ROWS[name], "trace": trace})
        response = client.query(request)
        oracle.answer(request).check([without(one, "sid", "version") for one in response.data_points])
        assert response.HasField("trace") == trace


def keys(family, *tags):
    return {"tagProjection": {"tagFamilies": [{"name": family, "tags": list(tags)}]}}


def agg(function, field):
    return {"function": f"AGGREGATION_FUNCTION_{function}", "fieldName": field}


AGGREGATES = {
    "by the first of a name": ask("one", "twins", ["b.t"], ["v"], groupBy=keys("a", "t"), agg=agg("SUM", "v")),
    "by the second of a name": ask("one", "twins", ["a.t"], ["v"], groupBy=keys("b", "t"), agg=agg("SUM", "v")),
    "by both, one carried, in the rule's order": ask("one", "twins", ["a.t"], ["v"], groupBy=keys("b", "t", "u"),
                                                     agg=agg("MAX", "v"), orderBy=by("t", DESC)),
    "two groups by the second of a name": ask("two one", "twins", ["a.t", "b.u"], ["v"], groupBy=keys("b", "t"),
                                              agg=agg("COUNT", "v")),
    "by arrays": ask("one two", "lists", ["default.id"], ["v"], groupBy=keys("default", "numbers", "words"),
                     agg=agg("MEAN", "v")),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", AGGREGATES)
def test_aggregates(cluster, name):
    client, oracle = cluster
    request = asked(AGGREGATES[name])
    same_list([without(one) for one in client.query(request).data_points], folded(oracle, request))


def node_says(measure, text):
    return execution(measure, "code: STATUS_INTERNAL_ERROR, msg: fail to dispatch the query request for measure "
                     f"{measure}: {text}")


NO_TIMES = "vec dispatch: analyze: plan.Analyze: vectorized.measure: tag default.at: unsupported tag type TAG_TYPE_TIMESTAMP"
REFUSED = {
    "a time as a key": (ask("one", "times", ["default.id"], ["v"], groupBy=keys("default", "at"), agg=agg("SUM", "v")),
                        node_says("times", NO_TIMES)),
    "a time beside an aggregate": (ask("one", "times", ["default.at"], ["v"], agg=agg("SUM", "v")),
                                   node_says("times", NO_TIMES)),
    "an aggregate in index mode": (ask("one", "device", ["default.id"], agg=agg("COUNT", "v")), node_says(
        "device", 'vec dispatch: analyze: plan.Analyze: Agg field "v" not present in measure schema')),
    "an aggregate that one of two groups lacks": (ask("one two", "thing", ["default.id"], agg=agg("COUNT", "v")), node_says(
        "thing", 'vec dispatch: analyze: plan.Analyze: Agg field "v" not present in measure schema')),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", REFUSED)
def test_refused(cluster, name):
    client, _ = cluster
    document, text = REFUSED[name]
    assert client.query_error(asked(document)) == (grpc.StatusCode.UNKNOWN, text)


def test_a_time_as_a_tag_is_the_nodes_to_refuse(cluster):
    client, _ = cluster
    code, text = client.query_error(asked(ask("one", "times", ["default.at"], ["v"])))
    assert code == grpc.StatusCode.UNKNOWN and NO_TIMES in text


# -------------------------------------------------------------- several groups

@pytest.mark.sanitize
def test_groups_are_asked_at_the_same_time():
    require_binary()
    with running(["--empty", "--t0", T0, "--nodes", 2], before=write) as (nodes, liaison), liaison.client() as client:
        nodes.control(fault={"*": {"group": "one", "hang": True}})
        call = client.method("/banyandb.measure.v1.MeasureService/Query").future(
            asked(ROWS["two groups, the hidden one of the two"]).SerializeToString(), timeout=30)

        def groups():
            return {entry["body"]["request"]["groups"][0] for stats in nodes.stats().values()
                    for entry in stats["requests"]}
        wait_until(lambda: groups() == set(GROUPS), what="both groups being asked")
        assert not call.done()
        call.cancel()
        nodes.control(fault={"*": None})
        liaison.expect_nothing_alive()
