# SPDX-License-Identifier: Apache-2.0
"""Aggregations whose rows do not fit the memory of one query are asked for in parts of their time range."""
import re
import time

import grpc
import pytest

from asking import EQ, where
from client import QUERY, rfc3339
from process import wait_until
from sliced import BEGIN_MS, INSTANCE, LATENCY, QUARTER_MS, QUOTA, SMALL
from sliced import expect_silence, only, ranges_of, slices, timeline, total, value

REFUSED = grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.fixture
def small(start):
    """small(rows of each node, more options) → two nodes, with frames of both versions, before a liaison whose
    queries may hold 2 MiB."""
    def begin(rows=100_000, *options, copies=False):
        cluster = start(["--demo", "--nodes", 2, "--frame-version", "mixed"], [*SMALL, *options])
        timeline(cluster.nodes, rows, copies)
        return cluster
    return begin


# --------------------------------------------------------------- the answers

@pytest.mark.seconds(400)
@pytest.mark.parametrize("version", [3, 4])
def test_millions_of_rows(start, version):
    rows = 1_000_000
    memory = ["--measure-vectorized-query-memory-mib=16", "--measure-frame-versions=3,4",
              "--dst-broadcast-timeout=90s", "--dst-slow-query=1ms"]
    cluster = start(["--demo", "--nodes", 2, "--frame-version", version], ["--aggregation=rows", *memory])
    timeline(cluster.nodes, rows)
    values = [value(number) for number in range(rows)]
    assert only(cluster.client.query(total("SUM"), timeout=120)) == 2 * sum(values)
    found = cluster.client.query(total("MEAN", "endpoint_id"), timeout=120)
    means = {series: sum(values[series::100]) // len(values[series::100]) for series in range(100)}
    found = {point.tag_families[0].tags[0].value.str.value: point.fields[0].value.int.value
             for point in found.data_points}
    assert found == {f"endpoint_id-{100_000 * node + series}": mean for node in range(2)
                     for series, mean in means.items()}
    peaks = [int(peak) for peak in re.findall(r'"peak_bytes":(\d+)', cluster.liaison.log)]
    print(f"{slices(cluster):.0f} slices for two queries, peaks of {peaks} bytes")
    assert len(peaks) == 2 and max(peaks) <= 16 << 20
    assert slices(cluster) > 10


@pytest.mark.seconds(200)
def test_what_is_not_cut_is_refused(small):
    """The same that the others are answered, so that they show something."""
    cluster = small(100_000, "--aggregation-max-slices=1")
    code, text = cluster.client.query_error(total("SUM"))
    assert code == REFUSED
    assert "does not fit the query's memory budget" in text and "--aggregation-max-slices" in text


@pytest.mark.sanitize
def test_slices_share_no_moment_and_leave_none_out(small):
    cluster = small(60_000)
    assert only(cluster.client.query(total("COUNT"))) == 120_000
    asked = ranges_of(cluster.nodes)
    assert len(asked) > 4
    assert asked[0] == (rfc3339(BEGIN_MS), rfc3339(BEGIN_MS + 3_600_000))
    ends = dict(asked)    # of those that begin alike the last one fitted
    at, seen = asked[0][0], 0
    while ends[at] != asked[0][1]:
        assert ends[at].endswith("999999Z")
        at = next(begin for begin in ends if _nanoseconds(begin) == _nanoseconds(ends[at]) + 1)
        seen += 1
    assert seen == len(ends) - 1 == slices(cluster) - 1


def _nanoseconds(text):
    seconds, _, fraction = text.rstrip("Z").partition(".")
    return int(time.mktime(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S"))) * 10**9 + int((fraction or "0").ljust(9, "0"))


@pytest.mark.sanitize
def test_copies_count_once(small):
    cluster = small(60_000, copies=True)
    assert only(cluster.client.query(total("SUM"))) == sum(value(number) for number in range(60_000))
    assert slices(cluster) > 1


@pytest.mark.sanitize
@pytest.mark.parametrize("sort", ["SORT_ASC", "SORT_DESC"])
def test_the_order_of_groups_knows_no_slices(small, sort):
    """By their first row in the direction, across all slices; then offset and limit."""
    cluster = small(60_000)
    whole = total("MAX", "endpoint_id", orderBy={"sort": sort})
    whole.offset, whole.limit = 30, 50
    cut = cluster.client.query(whole)
    assert len(cut.data_points) == 50 and slices(cluster) > 1
    wanted = [f"endpoint_id-{100_000 * node + series}"
              for series in (range(100) if sort == "SORT_ASC" else reversed(range(100))) for node in range(2)]
    found = [point.tag_families[0].tags[0].value.str.value for point in cut.data_points]
    assert found == wanted[30:80]


@pytest.mark.sanitize
def test_a_top_over_slices(small):
    cluster = small(60_000)
    asked = total("SUM", "endpoint_id", top={"number": 3, "fieldName": "value", "fieldValueSort": "SORT_DESC"})
    sums = sorted((sum(value(number) for number in range(series, 60_000, 100)) for series in range(100)), reverse=True)
    found = [point.fields[0].value.int.value for point in cluster.client.query(asked).data_points]
    assert found == sorted(sums * 2, reverse=True)[:3]
    assert slices(cluster) > 1


@pytest.mark.sanitize
def test_rows_that_fit_alone_but_not_with_their_groups(start):
    """All answers are there when it turns out; it begins anew, in parts."""
    cluster = start(["--demo", "--nodes", 2], ["--aggregation=rows", "--measure-vectorized-query-memory-mib=8"])
    timeline(cluster.nodes, 60_000, series=100)
    assert len(cluster.client.query(total("COUNT", "endpoint_id")).data_points) == 200
    assert slices(cluster) == 0
    timeline(cluster.nodes, 60_000, series=6_000)
    response = cluster.client.query(total("COUNT", "endpoint_id"))
    assert len(response.data_points) == 12_000
    assert {point.fields[0].value.int.value for point in response.data_points} == {10}
    assert slices(cluster) > 1


@pytest.mark.sanitize
def test_several_groups(small):
    """Each slice is asked of all groups at the same time."""
    cluster = small(40_000)
    cluster.nodes.control(clear=None)
    asked = total("COUNT", groups="sw_latency sw_metric", name=LATENCY)
    code, text = cluster.client.query_error(asked)
    assert code == grpc.StatusCode.UNKNOWN and "measure doesn't exist" in text
    document = {"metadata": {"group": "sw_metric", "name": LATENCY}, "interval": "1m",
                "tagFamilies": [{"name": "default", "tags": [{"name": "service_id", "type": "TAG_TYPE_STRING"}]}],
                "entity": {"tagNames": ["service_id"]},
                "fields": [{"name": "value", "fieldType": "FIELD_TYPE_INT",
                            "encodingMethod": "ENCODING_METHOD_GORILLA",
                            "compressionMethod": "COMPRESSION_METHOD_ZSTD"}]}
    cluster.nodes.control(schema=[{"action": "insert", "kind": "measure", "object": document}])
    wait_until(lambda: cluster.client.query_error(asked)[0] is None, 15, "the second group's measure")
    assert only(cluster.client.query(asked)) == 160_000
    assert slices(cluster) > 1


@pytest.mark.sanitize
def test_small_ones_take_one_call(small):
    cluster = small(5_000)
    assert only(cluster.client.query(total("COUNT"))) == 10_000
    assert len(ranges_of(cluster.nodes)) == 1 and slices(cluster) == 0


@pytest.mark.sanitize
def test_rows_in_a_corner_of_all_time(small):
    """Cut down to where the rows are in a few steps, not millisecond by millisecond."""
    cluster = small(60_000)
    assert only(cluster.client.query(total("COUNT", begin=0, seconds=4_000_000_000))) == 120_000
    print(f"{len(ranges_of(cluster.nodes))} questions")
    assert len(ranges_of(cluster.nodes)) < 100


@pytest.mark.sanitize
def test_rows_of_one_moment_cannot_be_cut(start):
    """A part is cut down to a millisecond, which may then have more than the others."""
    cluster = start(["--demo", "--nodes", 2], ["--aggregation=rows", "--aggregation-slice-size=100KiB"])
    timeline(cluster.nodes, 10_000, step=0, series=10_000)
    assert only(cluster.client.query(total("COUNT"))) == 20_000
    print(f"{len(ranges_of(cluster.nodes))} questions")
    assert len(ranges_of(cluster.nodes)) < 40


@pytest.mark.sanitize
def test_a_size_below_that_of_answers_without_rows(start):
    """Nobody means that; it must not end in asking millisecond by millisecond."""
    cluster = start(["--demo", "--nodes", 2], ["--aggregation=rows", "--aggregation-slice-size=300"])
    timeline(cluster.nodes, 10, step=60_000_000_000)
    assert only(cluster.client.query(total("COUNT", seconds=36_000))) == 20
    print(f"{len(ranges_of(cluster.nodes))} questions")
    assert len(ranges_of(cluster.nodes)) < 200


# ------------------------------------------------------------- what is not cut

@pytest.mark.sanitize
@pytest.mark.parametrize("how", ["group", "criteria"])
def test_an_indexed_tag_is_not_cut(small, how):
    cluster = small(100_000)
    more = {"key": "version"} if how == "group" else {"criteria": where("version", EQ, "v1.1")}
    asked = total("COUNT", groups="sw_metric", name=INSTANCE, **more)
    code, text = cluster.client.query_error(asked)
    assert code == REFUSED and "the tag version is indexed" in text and "quarter of an hour" in text, text
    assert len(ranges_of(cluster.nodes)) == 1


@pytest.mark.sanitize
def test_an_indexed_tag_is_cut_inside_one_segment(small):
    cluster = small(100_000)
    asked = total("COUNT", "version", groups="sw_metric", name=INSTANCE, seconds=QUARTER_MS // 1000 - 1)
    assert sum(point.fields[0].value.int.value for point in cluster.client.query(asked).data_points) == 200_000
    assert slices(cluster) > 1


@pytest.mark.sanitize
def test_too_many_groups_are_refused(small):
    """What is remembered of them does not fit, however the range is cut: it ends soon, and says so."""
    cluster = small(1)
    timeline(cluster.nodes, 60_000, series=60_000)
    code, text = cluster.client.query_error(total("SUM", "endpoint_id"))
    assert code == REFUSED and "narrower time range" in text, text
    print(f"{len(ranges_of(cluster.nodes))} questions: {text}")
    assert len(ranges_of(cluster.nodes)) < 40


def test_no_more_slices_than_allowed(small):
    cluster = small(300_000, "--aggregation-max-slices=6")
    code, text = cluster.client.query_error(total("SUM"))
    assert code == REFUSED and "6 questions are the most (--aggregation-max-slices)" in text, text
    assert len(ranges_of(cluster.nodes)) <= 6


@pytest.mark.sanitize
def test_answers_are_bound_by_their_size(start):
    cluster = start(["--demo", "--nodes", 2], ["--aggregation=rows", "--aggregation-slice-size=200KiB"])
    timeline(cluster.nodes, 20_000)
    assert only(cluster.client.query(total("COUNT"))) == 40_000
    assert 5 < slices(cluster) < 40


# ---------------------------------------------------------- what goes wrong

@pytest.mark.sanitize
def test_a_node_that_may_not_read_so_much(small):
    cluster = small(1_000)
    cluster.nodes.fault("d2", error=QUOTA, times=2)
    assert only(cluster.client.query(total("COUNT"))) == 2_000
    assert slices(cluster) > 1


@pytest.mark.sanitize
@pytest.mark.parametrize("mode", ["serve", "mark"])
def test_a_node_is_lost_between_slices(start, mode):
    cluster = start(["--demo", "--nodes", 2], [*SMALL, f"--incomplete={mode}"])
    timeline(cluster.nodes, 60_000)
    cluster.nodes.control(fault={"d2": [{"times": 5}, {"status": {"code": "UNAVAILABLE", "message": "gone"}}]})
    if mode == "mark":
        code, text = cluster.client.query_error(total("COUNT"))
        assert code == grpc.StatusCode.UNKNOWN and "gone" in text
        return
    response, trailers = cluster.client.query_with_trailers(total("COUNT"))
    assert trailers["banyandb-incomplete"] == "d2"
    assert 60_000 < only(response) < 120_000
    stats = cluster.nodes.stats()
    asked = len(stats["d2"]["requests"])      # also what was asked ahead, and once more in its turn
    assert 6 <= asked <= 6 + 4 + 1 and len(stats["d1"]["requests"]) > asked


@pytest.mark.sanitize
def test_slow_copies_are_not_waited_for_in_any_slice(start):
    cluster = start(["--demo", "--nodes", 2, "--created-at", "2026-01-01T00:00:00"], [*SMALL, "--skip-slow-replicas"])
    timeline(cluster.nodes, 100_000, copies=True)
    cluster.nodes.fault("d2", delay_ms=20_000)
    asked = total("COUNT", groups="sw_metric", name="service_cpm_minute")
    assert only(cluster.client.query(asked, timeout=15)) == 100_000
    assert slices(cluster) > 1


@pytest.mark.sanitize
def test_the_deadline_holds_for_all_slices(small):
    cluster = small(100_000)
    cluster.nodes.fault("*", delay_ms=300)
    code, text = cluster.client.query_error(total("SUM"), timeout=1)
    # The client's clock or the liaison's, whichever is first.
    assert code == grpc.StatusCode.DEADLINE_EXCEEDED or "code = DeadlineExceeded" in text, text
    expect_silence(cluster)


@pytest.mark.sanitize
def test_a_client_that_goes_stops_the_slices(small):
    cluster = small(100_000)
    cluster.nodes.fault("*", delay_ms=100)
    call = cluster.client.method(QUERY).future(total("SUM").SerializeToString(), timeout=30)
    wait_until(lambda: len(ranges_of(cluster.nodes)) > 3, 10, "some slices")
    call.cancel()
    expect_silence(cluster)


@pytest.mark.sanitize
def test_a_trace_tells_the_slices(small):
    cluster = small(100_000)
    response = cluster.client.query(total("COUNT", trace=True))
    assert only(response) == 200_000 and not response.trace.error
    (execution,) = response.trace.spans[0].children
    spans = [(span.message, {tag.key: tag.value for tag in span.tags}) for span in execution.children]
    broadcasts = [tags for name, tags in spans if name == "broadcast-agg"]
    assert 2 < len(broadcasts) <= 12
    assert "does not fit" in broadcasts[0]["asked_again"]
    assert len({tags["time_range"] for tags in broadcasts}) == len(broadcasts)
    (reduced,) = [tags for name, tags in spans if name == "reduce-raw-frames"]
    assert int(reduced["rounds_of_questions"]) == len(ranges_of(cluster.nodes))
    assert int(reduced["frames_in"]) == 2 * slices(cluster)
    assert [name for name, _ in spans][-2:] == ["limit", "iterator"]


@pytest.mark.seconds(200)
def test_many_at_once_under_one_budget(start):
    """The process has less than their memory together: each takes what is free, or says that it is too much."""
    cluster = start(["--demo", "--nodes", 2], ["--aggregation=rows", "--measure-vectorized-query-memory-mib=8",
                                               "--allowed-bytes=24MiB"])
    timeline(cluster.nodes, 100_000)
    calls = [cluster.client.method(QUERY).future(total("COUNT").SerializeToString(), timeout=100) for _ in range(6)]
    outcomes = [call.code() if call.exception() else grpc.StatusCode.OK for call in calls]
    print(outcomes)
    assert grpc.StatusCode.OK in outcomes and set(outcomes) <= {grpc.StatusCode.OK, REFUSED}
    assert only(cluster.client.query(total("COUNT"))) == 200_000
