# SPDX-License-Identifier: Apache-2.0
"""group_mod_revisions: statuses, waiting for a schema, and the range that begins when the measure was created."""
import time

import grpc
import pytest

import awkward
from asking import ask, by, query
from client import QUERY, time_range
from fixtures import require_binary, running, serving
from proto import nanoseconds, parse

SUCCEED, NOT_FOUND, EXPIRED, NOT_APPLIED = 1, 3, 4, 10
MILLISECOND = 1_000_000
REVISION = {"east": awkward.T0 - 1000, "west": awkward.T0 - 900}
CREATED = {"east": awkward.T0 - 400_000 * MILLISECOND, "west": awkward.T0 - 200_000 * MILLISECOND + 1}
ROWS = {"east": 80, "west": 80}
ALL = time_range(awkward.T0 // MILLISECOND - 600_000, awkward.T0 // MILLISECOND)

pytestmark = pytest.mark.sanitize


def measure(group):
    return next(document for kind, document in awkward.schemas()
                if kind == "measure" and document["metadata"] == {"group": group, "name": "reading"})


def change(group, revision):
    return {"action": "update", "kind": "measure", "object": measure(group), "revision": revision,
            "created_at": CREATED[group]}


def stamp(nodes):
    nodes.control(schema=[change(group, REVISION[group]) for group in REVISION])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """(nodes, client)"""
    require_binary()
    folder = awkward.write_folder(tmp_path_factory.mktemp("awkward"))
    with running(["--suite", folder, "--nodes", 2], before=stamp) as (nodes, liaison), liaison.client() as client:
        yield nodes, client


def asked(groups, revisions, **more):
    return query({**ask(groups, "reading", ["default.svc"], ["n"], limit=1000), "timeRange": ALL,
                  "groupModRevisions": revisions, **more})


EAST, WEST = REVISION["east"], REVISION["west"]
# name → (groups, revisions, statuses)
STATUSES = {
    "the one that is applied": ("west", {"west": WEST}, {"west": SUCCEED}),
    "an older one": ("west", {"west": WEST - 1}, {"west": EXPIRED}),
    "less than none": ("west", {"west": -WEST}, {"west": EXPIRED}),
    "a newer one": ("west", {"west": WEST + 1}, {"west": NOT_APPLIED}),
    "of an unknown group": ("nowhere", {"nowhere": 1}, {"nowhere": NOT_FOUND}),
    "of an unknown group beside a known one": ("west nowhere", {"nowhere": 1, "west": WEST},
                                               {"nowhere": NOT_FOUND, "west": SUCCEED}),
    "one of two groups is not gated": ("east west", {"west": WEST, "other": 3}, {"west": SUCCEED}),
    "0 is no revision": ("east west", {"west": WEST, "east": 0}, {"west": SUCCEED}),
    "two groups": ("east west", {"west": WEST, "east": EAST}, {"west": SUCCEED, "east": SUCCEED}),
    "two groups, one expired": ("east west", {"west": WEST - 5, "east": EAST}, {"west": EXPIRED, "east": SUCCEED}),
    "only groups that are not asked": ("west", {"other": 1}, {}),
    "a group named twice": ("west west", {"west": WEST}, {"west": SUCCEED}),
}


@pytest.mark.parametrize("trace", [False, True], ids=["", "traced"])
@pytest.mark.parametrize("name", STATUSES)
def test_statuses(cluster, name, trace):
    nodes, client = cluster
    groups, revisions, statuses = STATUSES[name]
    nodes.control(clear=None)
    response = client.query(asked(groups, revisions, trace=trace))
    assert dict(response.group_statuses) == statuses
    assert response.HasField("trace") == trace and not response.trace.error
    runs = set(statuses.values()) <= {SUCCEED}
    assert bool(response.data_points) == runs
    assert any(stats["sends"] for stats in nodes.stats().values()) == runs
    if trace and not runs:
        (root,) = response.trace.spans
        assert root.message == "measure-grpc" and not root.children
        assert [tag.key for tag in root.tags] == ["request", "response_data_point_count"]


def test_a_query_that_fails_has_no_statuses(cluster):
    _, client = cluster
    code, text = client.query_error(asked("west", {"west": WEST}, orderBy=by("nothing")))
    assert code == grpc.StatusCode.UNKNOWN and "index rule nothing not found" in text


# ------------------------------------------------------------------ the range

def begins(nodes):
    """Where the ranges that nodes were asked begin, in ns."""
    return {nanoseconds(query(entry["body"]["request"]).time_range.begin)
            for stats in nodes.stats().values() for entry in stats["requests"]}


def rows_since(client, groups, created, **more):
    everything = client.query(query({**ask(groups, "reading", ["default.svc"], ["n"], limit=1000), "timeRange": ALL}))
    clamped = client.query(asked(groups, {"other": 1}, **more))
    kept = [point for point in everything.data_points if nanoseconds(point.timestamp) >= created]
    assert list(clamped.data_points) == kept
    assert len(everything.data_points) == sum(ROWS[group] for group in groups.split())
    return kept


def test_the_range_begins_when_the_measure_was_created(cluster):
    nodes, client = cluster
    assert 0 < len(rows_since(client, "west", CREATED["west"])) < ROWS["west"]
    assert len(rows_since(client, "east", CREATED["east"])) < ROWS["east"]
    # the newest of all groups counts, to the nanosecond
    nodes.control(clear=None)
    client.query(asked("east west", {"other": 1}))
    assert begins(nodes) == {CREATED["west"]}
    rows_since(client, "east west", CREATED["west"])
    # later than that it stays
    nodes.control(clear=None)
    last = awkward.T0 // MILLISECOND
    client.query(asked("west", {"other": 1}, timeRange=time_range(last - 1000, last)))
    assert begins(nodes) == {awkward.T0 - 1000 * MILLISECOND}


@pytest.mark.parametrize("revisions", [{"other": 1}, {"west": WEST}], ids=["", "with a status"])
def test_a_range_before_the_creation(cluster, revisions):
    """Each empty answer is the client's own: no trace of an earlier one is in it."""
    nodes, client = cluster
    nodes.control(clear=None)
    early = time_range(awkward.T0 // MILLISECOND - 600_000, CREATED["west"] // MILLISECOND - 1)
    wanted = {group: SUCCEED for group in revisions if group == "west"}
    sizes = set()
    for _ in range(3):
        traced = client.query(asked("west", revisions, timeRange=early, trace=True))
        assert not traced.data_points and dict(traced.group_statuses) == wanted
        (root,) = traced.trace.spans
        assert root.message == "measure-grpc" and not root.children
        sizes.add(len(traced.trace.spans[0].tags))
        plain = client.query(asked("west", revisions, timeRange=early))
        assert not plain.data_points and not plain.HasField("trace") and dict(plain.group_statuses) == wanted
    assert len(sizes) == 1
    assert all(not stats["sends"] for stats in nodes.stats().values())


# -------------------------------------------------------------------- waiting

def test_a_schema_that_comes_is_waited_for(cluster):
    nodes, _ = cluster
    wanted = WEST + 100
    with serving(nodes, ["--measure-metadata-cache-wait-duration=20s"]) as liaison, liaison.client() as client:
        call = client.method(QUERY).future(asked("west", {"west": wanted}).SerializeToString(), timeout=30)
        time.sleep(0.3)
        assert not call.done(), "it is not there yet"
        nodes.control(schema=[change("west", wanted)])
        response = parse("measure.v1.QueryResponse", call.result())
        assert dict(response.group_statuses) == {"west": SUCCEED} and response.data_points
        # an older one is known to be old: nothing is waited for
        assert dict(client.query(asked("west", {"west": wanted - 1}), timeout=12).group_statuses) == {"west": EXPIRED}
        assert dict(client.query(asked("nowhere", {"nowhere": 1}), timeout=12).group_statuses) == {"nowhere": NOT_FOUND}


def test_a_schema_that_does_not_come(cluster):
    nodes, _ = cluster
    with serving(nodes, ["--measure-metadata-cache-wait-duration=400ms"]) as liaison, liaison.client() as client:
        response = client.query(asked("west", {"west": WEST + 10_000_000}))
        assert dict(response.group_statuses) == {"west": NOT_APPLIED} and not response.data_points
