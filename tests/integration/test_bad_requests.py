# SPDX-License-Identifier: Apache-2.0
"""Requests that are refused: which code, which words, and that nobody else notices."""
import re

import grpc
import pytest

from asking import CPM, EQ, ask, by, internal, query, where
from client import QUERY, time_range
from proto import message

INVALID, UNKNOWN = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNKNOWN
GROUPS = "invalid QueryRequest.Groups: value must contain at least 1 item(s)"
NAME = "invalid QueryRequest.Name: value length must be at least 1 runes"
RANGE = "invalid QueryRequest.TimeRange: value is required"
HUGE_SECONDS = 253402300799

pytestmark = pytest.mark.sanitize


def instants(begin=None, end=None):
    """A TimeRange of (seconds, nanos) pairs; None leaves the end open."""
    made = message("model.v1.TimeRange")
    for part, instant in ((made.begin, begin), (made.end, end)):
        if instant:
            part.seconds, part.nanos = instant
    made.SetInParent()
    return made


def with_range(made):
    request = query(ask(*CPM))
    request.time_range.CopyFrom(made)
    return request


def without(*fields):
    request = query(ask(*CPM))
    for field in fields:
        request.ClearField(field)
    return request


# name → (request, code, text)
TABLE = {
    "nothing at all": (b"", INVALID, f"{GROUPS}; {NAME}; {RANGE}"),
    "no groups": (without("groups"), INVALID, GROUPS),
    "no name": (without("name"), INVALID, NAME),
    "no time range": (without("time_range"), INVALID, RANGE),
    "no name and no time range": (without("name", "time_range"), INVALID, f"{NAME}; {RANGE}"),
    "an empty time range": (with_range(instants()), INVALID, "is invalid :time is empty"),
    "no end": (with_range(instants((1, 0))), INVALID, "begin:{seconds:1} is invalid :time is empty"),
    "no begin": (with_range(instants(None, (2, 0))), INVALID, "end:{seconds:2} is invalid :time is empty"),
    "nanoseconds": (with_range(instants((1, 5), (2, 0))), INVALID,
                    "begin:{seconds:1 nanos:5} end:{seconds:2} is invalid :time is not millisecond precision"),
    "nanoseconds at the end": (with_range(instants((1, 0), (2, 1))), INVALID,
                               "begin:{seconds:1} end:{seconds:2 nanos:1} is invalid :time is not millisecond precision"),
    "beyond 64 bits": (with_range(instants((1, 0), (HUGE_SECONDS, 0))), INVALID,
                       f"begin:{{seconds:1}} end:{{seconds:{HUGE_SECONDS}}} is invalid :time is out of range "
                       "-9223372036854775808 - 9223372036854775807"),
    "far before 64 bits": (with_range(instants((-62135596800, 0), (1, 0))), INVALID,
                           "begin:{seconds:-62135596800} end:{seconds:1} is invalid :time is out of range "
                           "-9223372036854775808 - 9223372036854775807"),
    "an empty group name": (query({**ask(*CPM), "groups": [""]}), UNKNOWN, internal(
        "fail to get execution context for measure service_cpm_minute: measure doesn't exist")),
    "a group of another kind": (query(ask("_deletion_task", "service_cpm_minute", ["a.b"])), UNKNOWN, internal(
        "fail to get execution context for measure service_cpm_minute: measure doesn't exist")),
    "an unknown rule": (query(ask(*CPM, orderBy=by("nothing"))), UNKNOWN, internal(
        "fail to analyze the query request for measure service_cpm_minute: index rule nothing not found")),
    "an unknown stage": (query(ask(*CPM, stages=["warm", "cold"])), UNKNOWN, internal("no stage found")),
}


@pytest.mark.parametrize("name", TABLE)
def test_table(cluster, name):
    request, wanted_code, wanted = TABLE[name]
    code, text = cluster.client.query_error(request)
    assert code == wanted_code
    assert " ".join(text.split()) == wanted
    assert all(not stats["sends"] for stats in cluster.nodes.stats().values()), "a node was asked"


ACCEPTED = {
    "an inverted range": with_range(instants((2000, 0), (1000, 0))),
    "negative nanoseconds": with_range(instants((1000, -5_000_000), (4_000_000_000, 0))),
    "an instant": with_range(instants((1000, 0), (1000, 0))),
    "before 1970": with_range(instants((-1000, 0), (-1, 0))),
    "an unknown sort": query(ask(*CPM, orderBy={"sort": 77})),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_odd_but_accepted(cluster, name):
    cluster.client.query(ACCEPTED[name])


def test_unknown_fields_are_ignored(cluster):
    request = query(ask(*CPM, limit=7))
    extended = request.SerializeToString() + b"\xfa\x3f\x03abc" + b"\x80\x40\x01"
    assert cluster.client.call(QUERY, extended) == cluster.client.query_bytes(request)


@pytest.mark.parametrize("method", ["InternalQuery", "DeleteExpiredSegments"])
def test_methods_for_nobody_outside_a_cluster(cluster, method):
    """Which a Go liaison does not answer either: the words do not send the client there."""
    with pytest.raises(grpc.RpcError) as failure:
        cluster.client.call(f"/banyandb.measure.v1.MeasureService/{method}", b"")
    assert failure.value.code() == grpc.StatusCode.UNIMPLEMENTED
    assert failure.value.details() == f"method {method} not implemented"


GARBAGE = {"a cut message": query(ask(*CPM)).SerializeToString()[:-3], "text": b"SELECT * FROM nothing",
           "a length past the end": b"\x0a\xff\xff\xff\xff\x0f", "a field of number 0": b"\x02\x01a",
           "an open group": b"\x0b\x08\x01", "ones": b"\xff" * 300}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage(cluster, name):
    code, text = cluster.client.query_error(GARBAGE[name])
    assert code in (grpc.StatusCode.INTERNAL, INVALID), (code, text)
    assert text
    assert len(cluster.client.query(query(ask(*CPM, limit=3))).data_points) == 3


def nested_criteria(depth):
    """A QueryRequest whose criteria are that deep, written from the inside out."""
    inner = query({**ask(*CPM), "criteria": where("layer", EQ, 2)}).criteria.SerializeToString()
    for _ in range(depth):
        expression = b"\x08\x01" + delimited(2, inner)
        inner = delimited(1, expression)
    return query(ask(*CPM)).SerializeToString() + delimited(4, inner)


def delimited(number, data):
    length, out = len(data), bytearray([number << 3 | 2])
    while length >= 0x80:
        out.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes(out) + bytes([length]) + data


def test_deep_criteria(cluster):
    assert cluster.client.query_error(nested_criteria(20))[0] is None
    for depth in (1001, 4500, 50_000):
        request = nested_criteria(depth)
        code, text = cluster.client.query_error(request)
        assert code == INVALID, (depth, len(request), text)
        assert re.search(r"\d", text) and "criteria" in text.lower(), text
    assert len(cluster.client.query(query(ask(*CPM, limit=3))).data_points) == 3


def test_a_request_over_the_size_limit(start):
    cluster = start(liaison_options=["--max-recv-msg-size=1MiB"])
    request = query(ask(*CPM))
    request.stages.append("x" * (2 << 20))
    code, text = cluster.client.query_error(request)
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(1 << 20) in text
    assert cluster.client.query_error(query(ask(*CPM)))[0] is None


def test_a_name_that_no_group_has_takes_no_series(cluster):
    """Otherwise a client could use up all of them, and groups that there are would not be told apart."""
    def started(group):
        return cluster.liaison.metric("banyandb_liaison_grpc_total_started", group=group)
    before = started("_other"), started("sw_metric")
    cluster.client.query_error(query(ask("nobody sw_metric nowhere", "service_cpm_minute", ["a.b"])))
    assert (started("_other"), started("sw_metric")) == (before[0] + 2, before[1] + 1)
    assert started("nobody") == 0


# ------------------------------------------------------------- revision gate

def statuses(cluster, revisions, **more):
    request = query(ask(*CPM, **more))
    for group, revision in revisions.items():
        request.group_mod_revisions[group] = revision
    response = cluster.client.query(request)
    return {group: status for group, status in response.group_statuses.items()}, len(response.data_points)


SUCCEED, NOT_FOUND, EXPIRED, NOT_APPLIED = 1, 3, 4, 10


def revision_of(cluster):
    """The measure's revision, found as a client would: by asking."""
    low, high = 0, 1 << 62
    while low < high:
        middle = (low + high) // 2
        status = statuses(cluster, {"sw_metric": middle})[0]["sw_metric"]
        if status == SUCCEED:
            return middle
        low, high = (middle + 1, high) if status == EXPIRED else (low, middle)
    return low


def test_gate(cluster):
    revision = revision_of(cluster)
    assert statuses(cluster, {"sw_metric": revision}, limit=5) == ({"sw_metric": SUCCEED}, 5)
    assert statuses(cluster, {"sw_metric": revision - 1}) == ({"sw_metric": EXPIRED}, 0)
    assert statuses(cluster, {"sw_metric": -1}) == ({"sw_metric": EXPIRED}, 0)
    assert statuses(cluster, {"sw_metric": revision + 1}) == ({"sw_metric": NOT_APPLIED}, 0)
    assert statuses(cluster, {"sw_metric": 0}, limit=5) == ({}, 5)
    assert statuses(cluster, {"elsewhere": 7}, limit=5) == ({}, 5)


def test_gate_of_an_unknown_measure(cluster):
    request = query(ask("sw_metric", "nothing", ["a.b"]))
    request.group_mod_revisions["sw_metric"] = 5
    assert dict(cluster.client.query(request).group_statuses) == {"sw_metric": NOT_FOUND}


def test_gate_clamps_the_range(cluster):
    """With a revision map, nothing before the creation of the schema is asked for."""
    request = query(ask(*CPM, timeRange=time_range(0, 1_000)))
    assert sum(stats["sends"] for stats in cluster.nodes.stats().values()) == 0
    request.group_mod_revisions["sw_metric"] = 0
    assert not cluster.client.query(request).data_points
    assert sum(stats["sends"] for stats in cluster.nodes.stats().values()) == 0
    request = query(ask(*CPM))
    request.group_mod_revisions["sw_metric"] = 0
    cluster.client.query(request)
    asked = cluster.nodes.stats()["d1"]["requests"][0]["body"]["request"]["timeRange"]
    assert asked["begin"] > "2000"
