# SPDX-License-Identifier: Apache-2.0
"""What is held is counted, bounded, and given back.

Each node of these tests has 100,000 rows, 17 MB as a frame, 23 MB as a part of an answer (workload w9).
"""
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import time

import grpc
import pytest

from asking import CPM, LATENCY, ask, query
from client import QUERY
from liaison import binary
from nodes import PYTHON
from process import wait_until
from proto import ROOT
from resident import forget_peak, own, peak, resident
from slow import Crowd, Reader
from turns import turns_text

MIB = 1 << 20
FRAME = 17_430_000      # bytes of one node's answer, at least
MILLION = 1_000_000
PLAIN = {"env": {"BYDB_POISON_RELEASED": "0"}}
# One program in Python plays the nodes and sends gigabytes: it takes long, and on a busy machine it says nothing for
# seconds, as a dead node does.
PATIENT = ["--dst-broadcast-timeout=90s", "--data-client-health-check-interval=1h"]
REFUSED = grpc.StatusCode.RESOURCE_EXHAUSTED


def wide(limit, **more):
    return query(ask("sw_latency", "endpoint_latency_minute", ["default.tag0", "default.tag1", "default.tag2"],
                     ["value"], limit=limit, **more))


class Memory:
    """Figures of a liaison's process, in bytes."""

    def __init__(self, liaison):
        self.liaison = liaison
        self.idle = self.settled()
        self.base = self.resident()

    @property
    def pid(self):
        return self.liaison.process.pid

    def resident(self):
        return resident(self.pid)

    def forget_peak(self):
        forget_peak(self.pid)
        self.base = self.resident()

    def growth(self):
        """Of resident memory, at its peak since it was forgotten."""
        return self.peak() - self.base

    def peak(self):
        return peak(self.pid)

    def unheld(self):
        """What the allocator keeps though nobody holds it, and what else is not of files."""
        return own(self.pid) - self.figures()[1]

    def figures(self):
        """(charged, held)"""
        metrics = self.liaison.metrics()
        return (sum(value for (name, _), value in metrics.items() if name == "bydb_charged_bytes"),
                metrics["bydb_held_bytes", ()])

    def settled(self):
        """The figures when they do not change any more: threads tell them twice a second, if they are let run."""
        seen = [self.figures()]

        def unchanged():
            time.sleep(0.6)
            seen.append(self.figures())
            return len(seen) > 2 and seen[-1][0] == seen[-2][0] == seen[-3][0]
        wait_until(unchanged, 30, "figures that do not change")
        return seen[-1]

    def over_idle(self):
        charged, held = self.figures()
        return charged - self.idle[0], held - self.idle[1]


def is_instrumented():
    return b"__asan_init" in binary().read_bytes()


@pytest.fixture
def figures():
    """For tests that look at what the process or the allocator holds."""
    if is_instrumented():
        pytest.skip("a sanitizer's allocator holds more than is asked for")


@pytest.fixture
def huge(start):
    """begin(liaison options) → a cluster of three nodes with 100,000 rows each, and its memory."""
    def begin(*options):
        cluster = start(["--demo", "--nodes", 3], [*PATIENT, *options], **PLAIN)
        cluster.nodes.control(synthetic={"*": {"name": "w9"}})
        cluster.client.query(query(ask(*CPM, limit=1)))    # what the first query builds for good
        return cluster, Memory(cluster.liaison)
    return begin


def big_error(cluster):
    with cluster.liaison.client() as client:
        try:
            return len(client.query_bytes(wide(300_000), timeout=100))
        except grpc.RpcError as why:
            return why


@pytest.mark.seconds(300)
def test_a_huge_answer_costs_what_came_and_what_goes(figures, huge):
    cluster, memory = huge()
    for _ in range(2):
        memory.forget_peak()
        sent = len(cluster.client.query_bytes(wide(300_000), timeout=100))
        print(f"{sent / MIB:.1f} MiB sent, resident memory grew by {memory.growth() / MIB:.1f} MiB")
        assert memory.growth() <= 3 * FRAME + 1.1 * sent + 16 * MIB


@pytest.mark.seconds(300)
def test_a_limit_costs_what_came_at_most(figures, huge):
    cluster, memory = huge()
    assert len(cluster.client.query(wide(100), timeout=100).data_points) == 100
    print(f"resident memory grew by {memory.growth() / MIB:.1f} MiB")
    assert memory.growth() <= 3 * FRAME + 8 * MIB


@pytest.mark.seconds(300)
def test_constants_stay_constant(figures, start):
    """A million rows of each node: times and values are 16 bytes a row, and one text stands for all tags of a kind."""
    cluster = start(["--demo", "--nodes", 2], PATIENT, **PLAIN)
    begin = 1_790_000_000_000_000_000
    cluster.nodes.control(timeline={name: {"rows": MILLION, "begin": begin, "series": 1} for name in cluster.nodes.names})
    cluster.client.query(query(ask(*CPM, limit=1)))
    memory = Memory(cluster.liaison)
    memory.forget_peak()
    assert len(cluster.client.query(wide(100), timeout=100).data_points) == 100
    print(f"resident memory grew by {memory.growth() / MIB:.1f} MiB")
    assert memory.growth() <= 2 * 16 * MILLION + 8 * MIB


@pytest.mark.sanitize
@pytest.mark.seconds(400)
def test_many_huge_answers_under_a_budget(huge):
    cluster, memory = huge("--allowed-bytes=512MiB")
    memory.forget_peak()
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        outcomes = list(pool.map(lambda _: big_error(cluster), range(64)))
    sizes = collections.Counter(outcome for outcome in outcomes if isinstance(outcome, int))
    refusals = [outcome for outcome in outcomes if not isinstance(outcome, int)]
    print(f"{sum(sizes.values())} answered, {len(refusals)} refused, at most {memory.peak() / MIB:.0f} MiB resident")
    assert len(sizes) == 1, sizes
    odd = collections.Counter(why.details() for why in refusals if why.code() != REFUSED)
    assert not odd, f"{odd}\n{cluster.liaison.log[-3000:]}"
    for why in refusals:
        assert str(512 * MIB) in why.details() and "try again" in why.details()
        assert dict(why.trailing_metadata())["grpc-retry-pushback-ms"] == "1000"
    cluster.liaison.expect_nothing_alive()
    if not is_instrumented():
        assert memory.peak() <= 600 * MIB
        wait_until(lambda: memory.resident() < memory.base + 16 * MIB, 15, "free memory being given back")
    assert isinstance(big_error(cluster), int)


@pytest.mark.seconds(300)
def test_the_charge_is_what_is_held(figures, huge):
    cluster, memory = huge()
    # Frames of two nodes and what was made of them wait for the third node.
    cluster.nodes.control(synthetic={"d2": {"name": "w3"}})
    cluster.nodes.fault("d3", hold=True)
    waiting = cluster.client.method(QUERY).future(wide(300_000).SerializeToString(), timeout=60)
    wait_until(lambda: memory.over_idle()[0] > FRAME, 30, "two frames being held")
    memory.settled()
    expect_true_charge(memory, FRAME)
    cluster.nodes.fault("d3")
    assert waiting.result()
    cluster.liaison.expect_nothing_alive()
    # A response that nobody reads.
    stalled = Reader(cluster.liaison.ports["grpc"], wide(300_000).SerializeToString())
    wait_until(lambda: cluster.liaison.metric("bydb_charged_bytes", kind="response") > 40 * MIB, 30, "an answer")
    memory.settled()
    assert cluster.liaison.metric("bydb_charged_bytes", kind="message") < MIB
    expect_true_charge(memory, 40 * MIB)
    stalled.close()


def expect_true_charge(memory, least):
    charged, held = memory.over_idle()
    print(f"charged {charged / MIB:.2f} MiB, held {held / MIB:.2f} MiB: {held / charged:.4f}")
    assert charged >= least
    assert held / charged <= 1.05


@pytest.mark.sanitize
@pytest.mark.seconds(400)
def test_a_full_pool_turns_big_ones_away_only(huge):
    """Answers that nobody reads fill the pool; a query that holds little never feels it."""
    cluster, memory = huge("--allowed-bytes=256MiB")
    readers = []
    try:
        for _ in range(8):
            readers.append(Reader(cluster.liaison.ports["grpc"], wide(300_000).SerializeToString()))
            wait_until(lambda: is_decided(cluster, readers), 30, "an answer or a refusal")
        refused = [reader for reader in readers if reader.status is not None]
        assert refused and len(refused) < len(readers)
        assert all(reader.status == 8 and reader.metadata["grpc-retry-pushback-ms"] == "1000" for reader in refused)
        why = big_error(cluster)
        assert why.code() == REFUSED and str(256 * MIB) in why.details(), why
        assert "no place" not in why.details()
        cluster.nodes.control(synthetic={"*": None})
        for _ in range(100):
            assert len(cluster.client.query(query(ask(*CPM, limit=500))).data_points) == 360
        assert cluster.liaison.metric("bydb_refused_queries_total", reason="process_memory") == len(refused) + 1
    finally:
        for reader in readers:
            reader.close()
    cluster.liaison.expect_nothing_alive()
    if not is_instrumented():
        wait_until(lambda: memory.resident() < memory.base + 16 * MIB, 15, "free memory being given back")


def is_decided(cluster, readers):
    for reader in readers:
        reader.read()
    waiting = [reader for reader in readers if reader.status is None]
    return (cluster.liaison.metric("bydb_live_queries") == 0 and
            cluster.liaison.metric("bydb_charged_bytes", kind="response") >= len(waiting) * 60 * MIB)


@pytest.mark.seconds(120)
def test_a_quiet_liaison_keeps_nothing(figures, huge):
    """Threads have heaps of their own, and free memory at the end of a heap is not given back by itself."""
    cluster, memory = huge()
    cluster.nodes.control(synthetic={"*": {"name": "w2"}})
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: cluster.client.query_bytes(wide(3000), timeout=100), range(300)))
    print(f"after the queries {memory.unheld() / MIB:.1f} MiB are kept")
    wait_until(lambda: memory.unheld() < 3 * MIB // 2, 30, "all free memory being given back", step=1)


@pytest.mark.sanitize
@pytest.mark.seconds(200)
def test_a_place_ends_when_the_answer_is_built(huge):
    cluster, _ = huge("--max-concurrent-queries=1", "--max-queue-duration=20s")
    stalled = Reader(cluster.liaison.ports["grpc"], wide(200_000).SerializeToString())
    wait_until(lambda: cluster.liaison.metric("bydb_charged_bytes", kind="response") > 32 * MIB, 30, "an answer")
    cluster.nodes.control(synthetic={"*": None})
    assert len(cluster.client.query(query(ask(*CPM, limit=500)), timeout=20).data_points) == 360
    stalled.close()


@pytest.mark.sanitize
@pytest.mark.seconds(200)
def test_a_client_that_trickles_is_cut(huge):
    cluster, _ = huge("--client-stall-timeout=5s")
    crowd = Crowd()
    reader = crowd.add(Reader(cluster.liaison.ports["grpc"], wide(200_000).SerializeToString(), window=1024))
    while not reader.ended:
        crowd.open_windows(1024)
        crowd.serve(0.2)
    assert reader.status == REFUSED.value[0] and 1024 < reader.taken < 65536
    assert reader.text.startswith(f"the client took {reader.taken % 65536} bytes of the answer in 5000 ms"), reader.text
    cluster.liaison.wait_log("an answer was cut")
    assert cluster.liaison.metric("bydb_cut_answers_total") == 1
    cluster.liaison.expect_nothing_alive()
    crowd.close()


@pytest.mark.sanitize
@pytest.mark.seconds(200)
def test_a_real_client_is_told_why_its_answer_is_cut(huge):
    """grpcio takes no more of a message than its window holds until somebody asks for the message."""
    cluster, _ = huge("--client-stall-timeout=2s")
    call = cluster.client.channel.unary_stream(QUERY)(wide(200_000).SerializeToString(), timeout=60)
    cluster.liaison.wait_log("an answer was cut", 30)
    with pytest.raises(grpc.RpcError) as failed:
        next(call)
    assert failed.value.code() == REFUSED, failed.value
    assert "bytes of the answer in 2000 ms, at least 65536 are expected" in failed.value.details()


def test_no_turn_is_long(huge):
    """Of the thread's own time: a busy machine makes everything take longer."""
    cluster, _ = huge()
    cluster.client.query_bytes(wide(300_000), timeout=100)
    cluster.client.query_bytes(wide(300_000, orderBy={"sort": "SORT_DESC"}), timeout=100)
    print(turns_text(cluster.liaison))
    assert cluster.liaison.metric("bydb_turn_max_seconds") > 0


def test_traces_tell_the_peak(start):
    cluster = start()
    answer = cluster.client.query(query(ask(*LATENCY, trace=True)))
    tags = {tag.key: tag.value for span in answer.trace.spans for child in span.children for tag in child.tags}
    assert int(tags["peak_charge_bytes"]) > 1000


@pytest.mark.seconds(200)
@pytest.mark.parametrize("mib, whole", [(64, True), (32, False)])
def test_a_traced_answer_stays_in_its_budget(figures, start, mib, whole):
    """A node's trace of 12 MiB is held once until it is written into the answer, or left out and counted."""
    cluster = start(["--demo", "--nodes", 1], [f"--measure-vectorized-query-memory-mib={mib}", *PATIENT], **PLAIN)
    cluster.client.query(query(ask(*LATENCY, trace=True)))
    cluster.nodes.control(timeline={"d1": {"rows": 10, "begin": 1_790_000_000_000_000_000, "trace_bytes": 12 * MIB}})
    memory = Memory(cluster.liaison)
    memory.forget_peak()
    answer = cluster.client.query(query(ask(*LATENCY, trace=True)), timeout=100)
    print(f"resident memory grew by {memory.growth() / MIB:.1f} MiB")
    assert len(answer.data_points) == 10 and not answer.trace.error
    texts = str(answer.trace)
    assert ("padding" in texts) == whole and ("ignored_child_spans" in texts) != whole
    assert memory.growth() <= (mib + 4) * MIB


@pytest.mark.seconds(500)
def test_a_short_soak(figures):
    """The long program for two minutes: all kinds of queries, faults and cancellations at the same time. So few
    queries do not warm everything up."""
    done = run_soak("soak.py", "--seconds=30", "--parts=2", "--growth=10")
    assert json.loads(done.stdout.splitlines()[-1])["queries"] > 100


@pytest.mark.seconds(300)
def test_slow_readers(figures):
    """Sixty instead of a thousand, and ten seconds instead of sixty."""
    run_soak("slow_readers.py", "--readers=60", "--seconds=10", "--stall=5s", "--budget=256MiB")


def run_soak(name, *options):
    program = [PYTHON, "-B", ROOT / "tests" / "soak" / name, *options]
    done = subprocess.run(program, env={**os.environ, "BYDB_LIAISON": str(binary())}, capture_output=True, text=True,
                          timeout=450, check=False)
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    return done
