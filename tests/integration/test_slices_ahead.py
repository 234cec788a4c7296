# SPDX-License-Identifier: Apache-2.0
"""Slices of an aggregation that are asked before their turn: they are, and no answer is another one for it."""
import re
import time

import grpc
import pytest

from client import QUERY
from process import wait_until
from sliced import QUOTA, expect_silence, only, ranges_of, slices, timeline, value
from sliced import total as total_of

REFUSED = grpc.StatusCode.RESOURCE_EXHAUSTED
ROWS = 60_000
IN_FLIGHT = 1 + 4       # the front, and the most that are ahead of it


def total(function, key=None, rows=ROWS, **more):
    return total_of(function, key, seconds=rows // 1000, **more)


def ahead(cluster):
    return cluster.liaison.metric("bydb_aggregation_slices_ahead_total")


def in_vain(cluster):
    return cluster.liaison.metric("bydb_aggregation_slices_in_vain_total")


def peaks(cluster):
    return [int(peak) for peak in re.findall(r'"peak_bytes":(\d+)', cluster.liaison.log)]


def later(*faults):
    """A node's faults after six questions: the whole range, a slice or two, and some that were asked ahead."""
    return [{"times": 6}, *faults]


@pytest.fixture
def cut(start):
    """cut(memory in MiB, more options) → two nodes with ROWS rows each before a liaison that slices."""
    def begin(memory=2, *options, rows=ROWS, version="mixed", **more):
        cluster = start(["--demo", "--nodes", 2, "--frame-version", version],
                        ["--aggregation=rows", f"--measure-vectorized-query-memory-mib={memory}",
                         "--measure-frame-versions=3,4", "--dst-slow-query=1us", *options])
        timeline(cluster.nodes, rows, **more)
        return cluster
    return begin


@pytest.mark.sanitize
def test_nodes_see_several_at_a_time(cut):
    """From the seventh question on a node does not answer; those that are in flight then come all the same."""
    cluster = cut(rows=100_000)
    cluster.nodes.control(fault={"d1": later({"hang": True})})
    call = cluster.client.method(QUERY).future(total("SUM", rows=100_000).SerializeToString(), timeout=60)
    wait_until(lambda: len(ranges_of(cluster.nodes)) >= 6 + 3, 20, "questions that wait for each other")
    time.sleep(0.5)
    asked = ranges_of(cluster.nodes)
    assert len(set(asked)) == len(asked) <= 6 + IN_FLIGHT
    call.cancel()
    expect_silence(cluster)


@pytest.mark.sanitize
@pytest.mark.parametrize("memory", [1, 2, 3, 4])
def test_answers_are_those_of_the_rows(cut, memory):
    cluster = cut(memory)
    values = [value(number) for number in range(ROWS)]
    assert only(cluster.client.query(total("SUM"))) == 2 * sum(values)
    sums = {f"endpoint_id-{100_000 * node + series}": sum(values[series::100])
            for node in range(2) for series in range(100)}
    found = cluster.client.query(total("SUM", "endpoint_id"))
    assert {point.tag_families[0].tags[0].value.str.value: point.fields[0].value.int.value
            for point in found.data_points} == sums
    print(f"{slices(cluster):.0f} slices, {ahead(cluster):.0f} of them ahead, {in_vain(cluster):.0f} in vain, "
          f"peaks of {peaks(cluster)}")
    assert slices(cluster) < 5 or ahead(cluster) > 0
    assert len(peaks(cluster)) == 2 and max(peaks(cluster)) <= memory << 20


@pytest.mark.sanitize
def test_the_slow_query_log_tells_how_many(cut):
    cluster = cut(rows=100_000)
    assert only(cluster.client.query(total("COUNT", rows=100_000))) == 200_000
    wait_until(lambda: "slices_in_flight" in cluster.liaison.log, 5, "the log")
    (most,) = re.findall(r'"slices_in_flight":(\d+)', cluster.liaison.log)
    assert 1 < int(most) <= IN_FLIGHT


@pytest.mark.sanitize
def test_a_traced_query_asks_one_after_the_other(cut):
    cluster = cut()
    assert only(cluster.client.query(total("COUNT", trace=True))) == 2 * ROWS
    assert slices(cluster) > 1 and ahead(cluster) == 0


def test_the_last_of_the_questions_are_asked_one_after_the_other(cut):
    """As before, the last one takes the rest, and nothing is asked beyond it."""
    cluster = cut(2, "--aggregation-max-slices=8", rows=400_000)
    code, text = cluster.client.query_error(total("COUNT", rows=400_000))
    assert code == REFUSED and "8 questions are the most" in text
    assert len(ranges_of(cluster.nodes)) <= 8 + in_vain(cluster)


# ------------------------------------------------------------- they give way

@pytest.mark.sanitize
def test_rows_that_become_denser(cut):
    """What is expected of the slices ahead is wrong by far."""
    cluster = cut(rows=100_000, turn=40_000, later_step=20_000)
    assert only(cluster.client.query(total("COUNT", rows=100_000))) == 200_000
    print(f"{slices(cluster):.0f} slices, {ahead(cluster):.0f} of them ahead, {in_vain(cluster):.0f} in vain, "
          f"peaks of {peaks(cluster)}")
    assert ahead(cluster) > 0 and in_vain(cluster) > 0
    assert max(peaks(cluster)) <= 2 << 20


@pytest.mark.sanitize
def test_groups_that_grow(cut):
    """They need the room that was left to the slices ahead."""
    cluster = cut(8, rows=120_000, series=8_000)
    found = cluster.client.query(total("COUNT", "endpoint_id", rows=120_000), timeout=100)
    assert [point.fields[0].value.int.value for point in found.data_points] == [15] * 16_000
    print(f"{slices(cluster):.0f} slices, {ahead(cluster):.0f} of them ahead, {in_vain(cluster):.0f} in vain, "
          f"peaks of {peaks(cluster)}")
    assert slices(cluster) > 4 and max(peaks(cluster)) <= 8 << 20


@pytest.mark.seconds(200)
def test_a_crowded_process(cut):
    """Queries whose memory together is far more than the process has, by turns and all at once."""
    cluster = cut(8, "--allowed-bytes=16MiB", rows=100_000)
    for _ in range(2):
        calls = [cluster.client.method(QUERY).future(total("COUNT", rows=100_000).SerializeToString(), timeout=100) for _ in range(5)]
        outcomes = [call.code() if call.exception() else grpc.StatusCode.OK for call in calls]
        print(outcomes, f"{ahead(cluster):.0f} ahead, {in_vain(cluster):.0f} in vain")
        assert set(outcomes) <= {grpc.StatusCode.OK, REFUSED} and grpc.StatusCode.OK in outcomes
        assert only(cluster.client.query(total("COUNT", rows=100_000))) == 200_000


# ------------------------------------------------------------- they fail

@pytest.mark.sanitize
@pytest.mark.parametrize("fault", [
    {"error": "boom"}, {"error": QUOTA}, {"no_message": True}, {"truncate": -1}, {"delay_ms": 1500},
    {"hang": True}, {"status": {"code": "UNAVAILABLE", "message": "gone"}},
    {"status": {"code": "RESOURCE_EXHAUSTED", "message": "no"}}], ids=lambda fault: "-".join(fault))
def test_what_fails_ahead_is_asked_again(cut, fault):
    """And answered, when the node is well in its turn."""
    cluster = cut(2, "--dst-broadcast-timeout=6s")
    cluster.nodes.control(fault={"d2": later({**fault, "times": 1})})
    assert only(cluster.client.query(total("COUNT"), timeout=60)) == 2 * ROWS
    assert ahead(cluster) > 0
    assert in_vain(cluster) > 0 or "delay_ms" in fault


@pytest.mark.sanitize
def test_what_fails_for_good_is_told(cut):
    cluster = cut()
    cluster.nodes.control(fault={"d2": later({"error": "boom"})})
    code, text = cluster.client.query_error(total("COUNT"))
    assert code == grpc.StatusCode.UNKNOWN and text.count("boom") == 1, text
    expect_silence(cluster)


@pytest.mark.sanitize
@pytest.mark.parametrize("mode", ["serve", "mark"])
def test_a_node_that_is_cut_off(cut, mode):
    cluster = cut(2, f"--incomplete={mode}", rows=100_000)
    cluster.nodes.control(fault={"d2": later({"close": True})})
    if mode == "mark":
        code, text = cluster.client.query_error(total("COUNT", rows=100_000))
        assert code == grpc.StatusCode.UNKNOWN and "d2" in text, text
    else:
        response, trailers = cluster.client.query_with_trailers(total("COUNT", rows=100_000))
        assert trailers["banyandb-incomplete"] == "d2"
        assert 100_000 < only(response) < 200_000
    cluster.nodes.control(fault={"d2": None})
    cluster.liaison.wait_ready(cluster.nodes.names)
    expect_silence(cluster)


@pytest.mark.sanitize
def test_the_deadline_ends_all_of_them(cut):
    cluster = cut()
    cluster.nodes.control(fault={"d2": later({"hang": True})})
    code, text = cluster.client.query_error(total("SUM"), timeout=2)
    assert code == grpc.StatusCode.DEADLINE_EXCEEDED or "code = DeadlineExceeded" in text, text
    expect_silence(cluster)


@pytest.mark.sanitize
def test_answers_of_many_that_nobody_waits_for(cut):
    """The client goes while answers ahead have come and wait for the front's."""
    cluster = cut(8, rows=200_000)
    cluster.nodes.control(fault={"d2": [{"times": 5}, {"hang": True, "times": 1}]})
    call = cluster.client.method(QUERY).future(total("SUM", rows=200_000).SerializeToString(), timeout=60)
    wait_until(lambda: ahead(cluster) >= 0 and len(ranges_of(cluster.nodes)) > 5, 20, "some slices")
    wait_until(lambda: cluster.liaison.metric("bydb_live_messages") > 0, 20, "answers that wait")
    call.cancel()
    expect_silence(cluster)
