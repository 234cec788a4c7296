# SPDX-License-Identifier: Apache-2.0
"""Criteria, order, aggregation and topN on small tables, beyond what the recorded requests ask."""
import math

import pytest

import answers
import frame3
from aggregate import Accumulator
from clock import DAY, MINUTE, SECOND, from_iso
from cluster import Cluster
from frame import ROLE_FIELD, ROLE_TAG
from messages import measure, set_nanoseconds
from rows import Point
from test_placement import group
from topn import NodePanic, NodeStuck
from values import to_tag

T0 = from_iso("2026-03-02T08:00:00Z")
EQ, NE, LT, GT, LE, GE, HAVING, NOT_HAVING, IN, NOT_IN, MATCH = range(1, 12)
TAGS = {"id": "STRING", "level": "INT", "labels": "STRING_ARRAY", "path": "STRING", "note": "STRING"}
SERIES = [      # id, level, labels, path; note is not indexed
    ("a", 1, ("x", "y"), "/api/v1/Orders"),
    ("b", 2, ("y",), "/api/v2/carts"),
    ("c", (1 << 63) - 1, None, "/health"),
    ("", None, ("x", "z"), None),
]


@pytest.fixture(scope="module")
def node():
    cluster = Cluster(1, T0, T0 - 30 * DAY, frame_versions=(3,))
    cluster.load("group", group("g", 1, 0))
    cluster.load("measure", {
        "metadata": {"group": "g", "name": "m"}, "entity": {"tagNames": ["id"]}, "interval": "1m",
        "tagFamilies": [{"name": "default", "tags": [{"name": name, "type": f"TAG_TYPE_{kind}"}
                                                     for name, kind in TAGS.items()]}],
        "fields": [{"name": "n", "fieldType": "FIELD_TYPE_INT"}, {"name": "f", "fieldType": "FIELD_TYPE_FLOAT"}]})
    for number, tag in enumerate(("level", "labels", "path")):
        cluster.load("indexRule", {"metadata": {"group": "g", "name": tag, "id": number + 1}, "tags": [tag],
                                   "type": "TYPE_INVERTED", "analyzer": "url" if tag == "path" else ""})
    cluster.load("indexRuleBinding", {"metadata": {"group": "g", "name": "m"}, "rules": ["level", "labels", "path"],
                                      "subject": {"catalog": "CATALOG_MEASURE", "name": "m"}})
    for name, sort, counters in (("top", "SORT_UNSPECIFIED", 1000), ("top_two", "SORT_UNSPECIFIED", 2),
                                 ("highest", "SORT_DESC", 1000)):
        cluster.load("topNAggregation", {
            "metadata": {"group": "g", "name": name}, "sourceMeasure": {"group": "g", "name": "m"}, "fieldName": "n",
            "fieldValueSort": sort, "groupByTagNames": [], "countersNumber": counters})
    cluster.write("g", "m", [
        point(T0 + second * SECOND, series, second * 10 + number, None if number == 3 else number + second / 4)
        for second in range(2) for number, series in enumerate(SERIES)])
    return cluster.nodes["d1"]


def point(timestamp, series, whole, real):
    tags = {("default", name): value for name, value in zip(TAGS, (*series, f"note {whole}"))}
    return Point(timestamp, tags, {"n": whole, "f": real})


def request(**changes):
    asked = measure.QueryRequest(groups=["g"], name="m", **changes)
    set_nanoseconds(asked.time_range.begin, T0 - DAY)
    set_nanoseconds(asked.time_range.end, T0 + DAY)
    return asked


def condition(name, op, value, operator=0):
    asked = request()
    found = asked.criteria.condition
    found.name, found.op, found.match_option.operator = name, op, operator
    found.value.CopyFrom(to_tag(value))
    if not operator:
        found.ClearField("match_option")
    return asked


def ids(node, asked):
    """The ids of the series in the answer; "" reads back as null."""
    asked.tag_projection.tag_families.add(name="default", tags=["id"])
    error, body = answers.measure_query(node, measure.InternalQueryRequest(request=asked))
    assert not error
    columns = frame3.decode(body).columns if body else []
    cells = next((column.cells for column in columns if column.role == ROLE_TAG), [])
    cells = [value_of_cell(cell) for cell in cells]
    return set(cells)


def value_of_cell(cell):
    """Criteria on a tag that is not shown give protobuf cells; these hold short strings or null."""
    if not isinstance(cell, bytes):
        return cell
    return cell[4:].decode() if cell[:1] == b"\x12" else None


@pytest.mark.parametrize("name, op, value, expected", [
    ("id", EQ, "a", {"a"}), ("id", EQ, "", {None}), ("id", IN, ("a", "c"), {"a", "c"}), ("id", EQ, "none", set()),
    ("level", EQ, 2, {"b"}), ("level", NE, 2, {"a", "c", None}), ("level", LT, 2, {"a"}), ("level", LE, 2, {"a", "b"}),
    ("level", IN, (1, 7), {"a"}), ("level", NOT_IN, (1, 2), {"c", None}),
    ("level", EQ, (1 << 63) - 1, {"c"}), ("level", GT, 1, {"b"}), ("level", GE, 1, {"a", "b"}),
    ("labels", HAVING, ("x", "y"), {"a"}), ("labels", HAVING, ("y",), {"a", "b"}), ("labels", HAVING, "z", {None}),
    ("labels", NOT_HAVING, ("x",), {"b", "c"}), ("labels", IN, ("z", "y"), {"a", "b", None}),
    ("path", MATCH, "orders", {"a"}), ("path", MATCH, "API carts", {"a", "b"}), ("path", MATCH, "v3", set()),
])
def test_condition(node, name, op, value, expected):
    assert ids(node, condition(name, op, value)) == expected


def test_match_all_words(node):
    assert ids(node, condition("path", MATCH, "api carts", operator=1)) == {"b"}


def tree(op, *conditions):
    asked = request()
    for side, (name, operation, value) in zip((asked.criteria.le.left, asked.criteria.le.right), conditions):
        side.condition.name, side.condition.op = name, operation
        side.condition.value.CopyFrom(to_tag(value))
    asked.criteria.le.op = op
    return asked


def test_trees(node):
    assert ids(node, tree(1, ("id", IN, ("a", "b")), ("level", GE, 2))) == {"b"}
    assert ids(node, tree(2, ("id", EQ, "a"), ("level", EQ, 2))) == {"a", "b"}


def refused(node, asked):
    if not asked.HasField("tag_projection"):
        asked.tag_projection.tag_families.add(name="default", tags=["id"])
    error, body = answers.measure_query(node, measure.InternalQueryRequest(request=asked))
    assert not body
    return error.removeprefix("code: STATUS_INTERNAL_ERROR, msg: fail to dispatch the query request for measure m: ")


def test_entities_that_contradict_each_other_are_refused(node):
    text = "vec dispatch: query measure: invalid query options: series is required"
    assert refused(node, tree(1, ("id", EQ, "a"), ("id", EQ, "b"))) == text
    assert refused(node, tree(1, ("id", IN, ("a", "b")), ("id", IN, ("a", "b")))) == text


@pytest.mark.parametrize("name, op, value, text", [
    ("note", EQ, "x", 'mandatory index rule conf:name:"note" op:BINARY_OP_EQ value:{str:{value:"x"}}'),
    ("id", NE, "a", 'mandatory index rule conf:name:"id" op:BINARY_OP_NE value:{str:{value:"a"}}'),
])
def test_conditions_without_an_index_are_refused(node, name, op, value, text):
    expected = f"vec dispatch: build query: {text}: unsupported condition operation"
    assert refused(node, condition(name, op, value)) == expected


def test_order_by_a_rule_that_is_not_there(node):
    asked = request()
    asked.order_by.index_rule_name = "note"
    assert refused(node, asked) == "vec dispatch: parse order_by: note: index is not define for the tag"


def test_an_array_key_cannot_be_encoded(node):
    asked = request()
    asked.group_by.tag_projection.tag_families.add(name="default", tags=["labels"])
    error, _ = answers.measure_query(node, measure.InternalQueryRequest(request=asked))
    assert error.endswith("vec raw-frame emit: vectorized.frame: unsupported column type: string[]")
    asked.trace = True
    error, body = answers.measure_query(node, measure.InternalQueryRequest(request=asked))
    response = measure.InternalQueryResponse.FromString(body)
    assert not error and response.trace.error and not response.raw_frame_body


def aggregated(node, function, field, partial):
    asked = request()
    asked.agg.function, asked.agg.field_name = function, field
    body = answers.measure_query(node, measure.InternalQueryRequest(request=asked, agg_return_partial=partial))[1]
    return [(column.name, column.cells) for column in frame3.decode(body).columns if column.role == ROLE_FIELD]


@pytest.mark.parametrize("function, field, partial, expected", [
    (5, "n", True, [("n", [52])]), (4, "n", True, [("n", [8])]), (2, "n", True, [("n", [13])]),
    (3, "n", True, [("n", [0])]), (1, "n", True, [("n", [52]), ("n__agg_count", [8])]), (1, "n", False, [("n", [6])]),
    (4, "f", True, [("f", [6.0])]), (1, "f", False, [("f", [1.125])]),
    (1, "f", True, [("f", [6.75]), ("f__agg_count", [6.0])]),
])
def test_aggregates(node, function, field, partial, expected):
    assert aggregated(node, function, field, partial) == expected


def test_start_values_and_nan_in_accumulators():
    assert Accumulator(3, int).partial() == [(1 << 63) - 1] and Accumulator(1, float).final() == [0.0]
    lowest, mean = Accumulator(3, float), Accumulator(1, int)
    for value in (math.nan, 2.0):
        lowest.add(value)
    for value in (None, -7, 0):
        mean.add(value)
    assert math.isnan(lowest.value) and mean.final() == [1] and mean.partial() == [-7, 2]


def topn(node, name, top_n=10, sort=1, **changes):
    asked = measure.TopNRequest(groups=["g"], name=name, top_n=top_n, field_value_sort=sort, **changes)
    set_nanoseconds(asked.time_range.begin, T0 - DAY)
    set_nanoseconds(asked.time_range.end, T0 + DAY)
    error, body = answers.topn_query(node, asked)
    assert not error
    if not body:
        return None
    return [item.value.int.value for item in measure.TopNResponse.FromString(body).lists[0].items]


def test_topn_is_the_last_value_of_each_series_in_a_bucket(node):
    assert topn(node, "top") == [13, 12, 11, 10]
    assert topn(node, "top", top_n=2, sort=2) == [10, 11]


def test_a_rule_without_direction_keeps_the_highest_for_both(node):
    assert topn(node, "top_two", sort=2) == [12, 13]


def test_topn_answers_without_body(node):
    assert topn(node, "no such rule") is None and topn(node, "top", sort=0) is None


def test_topn_in_the_wrong_direction_and_far_too_large(node):
    with pytest.raises(NodePanic):
        topn(node, "highest", sort=2)
    with pytest.raises(NodeStuck):
        topn(node, "top", top_n=(1 << 31) - 1)


def test_rows_past_their_ttl_are_not_there():
    cluster = Cluster(1, T0, T0 - 30 * DAY)
    cluster.load("group", group("g", 1, 0))
    cluster.load("measure", {"metadata": {"group": "g", "name": "m"}, "entity": {"tagNames": ["id"]},
                             "tagFamilies": [{"name": "default", "tags": [{"name": "id", "type": "TAG_TYPE_STRING"}]}]})
    cluster.write("g", "m", [Point(T0 - days * DAY, {("default", "id"): "a"}, {}) for days in (0, 3, 9)])
    rows = cluster.nodes["d1"].store.table(cluster.catalog.measure("g", "m")).rows.values()
    assert sorted((T0 - row.timestamp) // DAY for row in rows) == [0, 3]


def test_indexed_tags_keep_the_last_value_of_the_first_batch(node):
    cluster = Cluster(1, T0, T0 - 30 * DAY, frame_versions=(3,))
    cluster.load("group", group("g", 1, 0))
    cluster.load("measure", node.catalog.measure("g", "m").measure)
    for rule in node.catalog.measure("g", "m").rules:
        cluster.load("indexRule", rule)
    cluster.load("indexRuleBinding", node.catalog.get("indexRuleBinding", "g", "m"))
    series = {"first": ("s", 1, None, None), "last": ("s", 2, None, None), "later": ("s", 3, None, None)}
    cluster.write("g", "m", [point(T0, series["first"], 1, 1.0), point(T0 + MINUTE, series["last"], 2, 2.0)])
    cluster.write("g", "m", [point(T0 + 2 * MINUTE, series["later"], 3, 3.0)])
    assert ids(cluster.nodes["d1"], condition("level", EQ, 2)) == {"s"}
    assert ids(cluster.nodes["d1"], condition("level", EQ, 3)) == set()
