# SPDX-License-Identifier: Apache-2.0
"""group_by, agg and top case by case: layouts, hidden columns, nulls, several groups, refusals.

What the random queries ask in bulk has a name here, and what they cannot ask at all: requests without
projections, of several groups that nodes alone would refuse, over nothing.
"""
import grpc
import pytest

import awkward
from asking import DESC, EQ, NE, ask, by, execution, internal, where
from client import time_range
from compare import same_list, without
from fixtures import require_binary, running
from oracle import Oracle
from oracle_groups import folded, of_stream, stream_request
from proto import message

MILLISECOND = 1_000_000
CLUSTERS = {"1-node": ["--nodes", 1], "3-nodes": ["--nodes", 3],
            "3-nodes-of-two-versions": ["--nodes", 3, "--frame-version", "mixed"],
            "2-nodes-with-all-rows-each": ["--nodes", 2, "--replicas", 1]}
ALL_TIMES = time_range(awkward.T0 // MILLISECOND - 600_000, awkward.T0 // MILLISECOND)
READING = ("reading", ["default.svc", "idx.rank", "idx.label"], ["n", "f"])


def keys(*tags):
    families = {}
    for tag in tags:
        family, name = tag.split(".")
        families.setdefault(family, []).append(name)
    return {"tagProjection": {"tagFamilies": [{"name": family, "tags": names} for family, names in families.items()]}}


def agg(function, field):
    return {"function": f"AGGREGATION_FUNCTION_{function}", "fieldName": field}


def top(number, field, sort=DESC):
    return {"number": number, "fieldName": field, "fieldValueSort": sort}


@pytest.fixture(scope="module", params=CLUSTERS, ids=list(CLUSTERS))
def cluster(request, tmp_path_factory):
    require_binary()
    folder = awkward.write_folder(tmp_path_factory.mktemp("awkward"))
    oracle = Oracle()
    awkward.load(oracle)
    with running(["--suite", folder, *CLUSTERS[request.param]], ["--measure-frame-versions=3,4"]) as (_, liaison):
        with liaison.client() as client:
            yield client, oracle


def request_of(document):
    return message("measure.v1.QueryRequest", {"timeRange": ALL_TIMES, **document})


AGGREGATES = {
    "a total of all rows": ask("west", *READING, agg=agg("SUM", "n")),
    "without projections": ask("west", "reading", agg=agg("COUNT", "n")),
    "the key alone": ask("west", "reading", agg=agg("MAX", "n"), groupBy=keys("default.svc")),
    "a key of another family, not projected": ask("west", "reading", ["default.svc"], agg=agg("MIN", "n"),
                                                  groupBy=keys("idx.label")),
    "two keys": ask("east", *READING, agg=agg("SUM", "n"), groupBy=keys("idx.rank", "idx.label")),
    "a key named twice": ask("east", *READING, agg=agg("SUM", "n"), groupBy=keys("idx.rank", "idx.rank")),
    "null, empty and other strings": ask("east", *READING, agg=agg("COUNT", "n"), groupBy=keys("idx.label")),
    "null, 0 and other numbers": ask("east", *READING, agg=agg("COUNT", "n"), groupBy=keys("idx.rank")),
    "bytes": ask("east", "reading", ["default.svc"], agg=agg("COUNT", "n"), groupBy=keys("extra.raw")),
    "arrays": ask("east", "reading", ["default.svc"], agg=agg("SUM", "n"), groupBy=keys("extra.names", "extra.ports")),
    "NaN and infinities": ask("east", *READING, agg=agg("SUM", "f"), groupBy=keys("default.svc")),
    "a mean of NaN": ask("east", *READING, agg=agg("MEAN", "f")),
    "the least float": ask("east", *READING, agg=agg("MIN", "f"), groupBy=keys("idx.rank")),
    "a group of nulls alone": ask("east", *READING, agg=agg("MIN", "n"), groupBy=keys("default.svc"),
                                  criteria=where("svc", EQ, "s3")),
    "groups by time, newest first": ask("east", *READING, agg=agg("COUNT", "n"), groupBy=keys("extra.raw"),
                                        orderBy=by(sort=DESC)),
    "groups by a rule": ask("east", *READING, agg=agg("COUNT", "n"), groupBy=keys("default.svc"), orderBy=by("label")),
    "groups by a rule, descending": ask("east", *READING, agg=agg("COUNT", "n"), groupBy=keys("default.svc"),
                                        orderBy=by("rank", DESC)),
    "groups by a rule of a hidden tag": ask("east", "reading", ["default.zone"], agg=agg("COUNT", "n"),
                                            groupBy=keys("default.svc"), orderBy=by("rank", DESC)),
    "ordered by the key, which is not projected": ask("east", "reading", ["default.svc"], agg=agg("COUNT", "n"),
                                                      groupBy=keys("idx.rank"), orderBy=by("rank")),
    "criteria of a hidden tag": ask("east", "reading", ["default.svc"], agg=agg("SUM", "f"),
                                    groupBy=keys("default.svc"), criteria=where("label", NE, "beta")),
    "the two greatest": ask("west", *READING, agg=agg("SUM", "n"), groupBy=keys("default.svc"), top=top(2, "n")),
    "the smallest, nulls first": ask("east", *READING, agg=agg("MAX", "n"), groupBy=keys("default.svc"),
                                     top=top(3, "n", "SORT_ASC")),
    "a top of none": ask("west", *READING, agg=agg("SUM", "n"), groupBy=keys("default.svc"), top=top(0, "n")),
    "a page of groups": ask("west", *READING, agg=agg("SUM", "n"), groupBy=keys("default.svc"), offset=2, limit=3),
    "a page of the greatest": ask("west", *READING, agg=agg("SUM", "n"), groupBy=keys("default.svc"), top=top(5, "n"),
                                  offset=1, limit=2),
    "two groups": ask("east west", *READING, agg=agg("SUM", "n"), groupBy=keys("default.svc")),
    "two groups, the other way round": ask("west east", *READING, agg=agg("COUNT", "n"), groupBy=keys("idx.label")),
    "two groups without projections": ask("west east", "reading", agg=agg("SUM", "n"), groupBy=keys("default.svc")),
    "two groups, a tag of one": ask("west east", "reading", ["default.zone"], agg=agg("SUM", "n"),
                                    groupBy=keys("default.svc")),
    "two groups, a tag of none": ask("west east", "reading", ["default.nothing"], agg=agg("SUM", "n"),
                                     groupBy=keys("default.svc")),
    "two groups, arrays as null in one frame": ask("west east", "reading", ["extra.names"], agg=agg("SUM", "f"),
                                                   groupBy=keys("default.svc")),
    "a group named twice": ask("west west", *READING, agg=agg("SUM", "n")),
    "a group named twice, a tag of none": ask("west west", "reading", ["default.nothing", "idx.rank"], agg=agg("SUM", "n"),
                                              groupBy=keys("default.svc")),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", AGGREGATES)
def test_aggregate(cluster, name):
    client, oracle = cluster
    request = request_of(AGGREGATES[name])
    same_list([without(point) for point in client.query(request).data_points], folded(oracle, request))


ROWS = {
    "the first row of each": ask("west", *READING, groupBy=keys("default.svc")),
    "the last row of each": ask("west", *READING, groupBy=keys("default.svc"), orderBy=by(sort=DESC)),
    "a key that is not projected": ask("east", "reading", ["default.svc"], ["n"], groupBy=keys("idx.label")),
    "a key of a family that is": ask("east", "reading", ["idx.label"], ["n"], groupBy=keys("idx.rank")),
    "a key that the order hides": ask("east", "reading", ["default.svc"], ["n"], groupBy=keys("idx.rank"),
                                      orderBy=by("rank")),
    "arrays": ask("east", "reading", ["default.svc"], ["n"], groupBy=keys("extra.ports")),
    "ranked": ask("east", *READING, groupBy=keys("default.svc"), top=top(3, "f")),
    "ranked by what is not projected": ask("east", "reading", ["default.svc"], ["n"], groupBy=keys("default.svc"),
                                           top=top(3, "f", "SORT_ASC")),
    "a page of the first rows": ask("east", *READING, groupBy=keys("default.svc"), offset=2, limit=3),
    "the greatest of all": ask("east", *READING, top=top(7, "n")),
    "the smallest, nulls first": ask("east", *READING, top=top(15, "n", "SORT_ASC")),
    "NaN below all numbers": ask("east", *READING, top=top(60, "f")),
    "by strings, which are all one": ask("east", "reading", ["default.svc"], ["text"], top=top(4, "text")),
    "more than there are": ask("west", *READING, top=top(2_000_000_000, "n"), limit=1000),
    "a top of less than none": ask("west", *READING, top=top(-1, "n"), limit=1000),
    "two groups": ask("east west", *READING, groupBy=keys("idx.label"), top=top(4, "n")),
    "two groups, nothing projected that matters": ask("east west", "reading", ["extra.names"], ["n"],
                                                      groupBy=keys("default.svc"), top=top(5, "f")),
    "two groups ranked by a field of one": ask("east west", *READING, top=top(5, "text")),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ROWS)
def test_rows(cluster, name):
    client, oracle = cluster
    request = request_of(ROWS[name])
    asked = stream_request(request)
    everything = client.query(asked).data_points
    oracle.answer(asked).check([without(point, "sid", "version") for point in everything])
    order_tag = ("idx", request.order_by.index_rule_name) if request.order_by.index_rule_name else None
    same_list(client.query(request).data_points, of_stream(request, everything, order_tag))


def test_several_groups_without_projections(cluster):
    """All columns of all groups, of which only the key was asked for; the field of top is not shown."""
    client, oracle = cluster
    (point, *_) = client.query(request_of(ask("west east", "reading", groupBy=keys("default.svc"),
                                              top=top(1, "f")))).data_points
    tags = {f"{family.name}.{tag.key}": tag.value.WhichOneof("value") for family in point.tag_families
            for tag in family.tags}
    assert set(tags) == {"default.svc", "default.zone", "extra.ports", "extra.names", "extra.raw", "idx.rank",
                         "idx.label"}
    assert {name for name, kind in tags.items() if kind != "null"} == {"default.svc"}
    assert [(field.name, field.value.WhichOneof("value")) for field in point.fields] == [
        ("n", "null"), ("text", "null"), ("blob", "null")]


def test_a_total_of_nothing(cluster):
    client, _ = cluster
    nothing = time_range(0, 1000)
    assert not client.query(request_of({**AGGREGATES["a total of all rows"], "timeRange": nothing})).data_points
    document = ask("west", *READING, agg=agg("SUM", "n"), top=top(1, "f"), timeRange=nothing)
    assert not client.query(request_of(document)).data_points    # only rows could lack the field


def node_says(text):
    return execution("reading", "code: STATUS_INTERNAL_ERROR, msg: fail to dispatch the query request for measure "
                     f"reading: {text}")


REFUSED = {
    "no tag family": (ask("west", *READING, groupBy={}), node_says(
        "vec dispatch: analyze: plan.Analyze: GroupBy.tag_projection must list at least one tag family")),
    "the wrong family": (ask("west", *READING, groupBy=keys("extra.svc"), agg=agg("SUM", "n")), node_says(
        "vec dispatch: analyze: plan.Analyze: GroupBy tag extra.svc not present in measure schema")),
    "a key of one group": (ask("east west", *READING, groupBy=keys("default.zone")), node_says(
        "vec dispatch: analyze: plan.Analyze: GroupBy tag default.zone not present in measure schema")),
    "no such field": (ask("west", *READING, agg=agg("SUM", "text")), node_says(
        'vec dispatch: analyze: plan.Analyze: Agg field "text" not present in measure schema')),
    "a field that is projected, but unknown": (ask("west", "reading", (), ["n", "x"], agg=agg("SUM", "n")), node_says(
        "field x not found in schema")),
    "no function": (ask("west", *READING, agg={"fieldName": "n"}), node_says(
        "vec dispatch: execute: plan.Execute: plan.GroupByAgg.Build: vectorized.measure: Agg.Function is UNSPECIFIED")),
    "a string": (ask("east", *READING, agg=agg("COUNT", "text")), execution(
        "reading", "code: STATUS_INTERNAL_ERROR, msg: panic: agg needs a field of FIELD_TYPE_INT or FIELD_TYPE_FLOAT, "
        "text is of FIELD_TYPE_STRING")),
    "top by a field that is not there": (ask("west", *READING, top=top(1, "text")), internal(
        "fail to analyze the query request for measure reading: vec distributed analyze: top field text not found in "
        "schema")),
    "top by another field than the aggregate": (ask("west", *READING, agg=agg("SUM", "n"), top=top(1, "f")), execution(
        "reading", 'vec distributed plan: top reduced frames: ApplyTopToReduce: field "f" not present in reduced '
        "schema")),
    "a rule that is not bound": (ask("west", *READING, agg=agg("SUM", "n"), orderBy=by("svc")), node_says(
        "vec dispatch: parse order_by: svc: index is not define for the tag")),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", REFUSED)
def test_refused(cluster, name):
    client, _ = cluster
    document, text = REFUSED[name]
    assert client.query_error(request_of(document)) == (grpc.StatusCode.UNKNOWN, text)


def test_an_answer_is_the_same_each_time(cluster):
    client, _ = cluster
    for document in [*AGGREGATES.values(), *ROWS.values()]:
        request = request_of(document)
        assert len({client.query_bytes(request) for _ in range(3)}) == 1
