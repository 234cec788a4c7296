# SPDX-License-Identifier: Apache-2.0
"""Aggregations in slices while nodes fail, clients leave and memory is short.

Rows, nodes, budgets, faults and queries follow from a seed. An answer without a mark holds all rows, one that lacks
rows says so, and the end comes as if nothing had been. BYDB_SEED is the first seed, BYDB_SECONDS how long each of
them goes on; more of it is for runs by hand.
"""
import collections
import os
import random
import time

import grpc
import pytest

from client import QUERY
from fixtures import require_binary, running
from load import is_sanitized
from process import wait_until
from proto import parse
from sliced import QUOTA, timeline, total, value

SEED = int(os.environ.get("BYDB_SEED", 1))
SECONDS = int(os.environ.get("BYDB_SECONDS", 3 if is_sanitized() else 5))
UNSPOILT = {"*": None}

# None of them makes a node's rows fewer in silence, as an empty body would, or changed bytes in what is still a frame.
FAULTS = [{"error": "boom"}, {"error": QUOTA}, {"no_message": True}, {"hang": True}, {"close": True},
          {"delay_ms": 5}, {"delay_ms": 50}, {"delay_ms": 1500}, {"truncate": 1}, {"truncate": 9}, {"truncate": -1},
          {"status": {"code": "UNAVAILABLE", "message": "gone"}},
          {"status": {"code": "RESOURCE_EXHAUSTED", "message": "too busy"}},
          {"huge": "rows"}, {"huge": "columns"}, {"huge": "names"}, {"data_points": True}, {"trace_error": True},
          {"garbage": 1}, {"garbage": 64}, {"garbage": 5000, "version_byte": 4}, {"version_byte": 9}]


class Scene:
    """What a seed makes of rows, nodes and the liaison's options."""

    def __init__(self, seed):
        self.random = random.Random(f"slices {seed}")
        choose = self.random.choice
        self.rows, self.count = choose([40_000, 60_000, 100_000]), choose([1, 2, 3])
        self.copies = choose([True, False, False])
        self.executors, self.version = choose([1, 2, 4]), choose(["mixed", "3", "4"])
        self.options = ["--aggregation=rows", f"--measure-vectorized-query-memory-mib={choose([1, 2])}",
                        "--measure-frame-versions=3,4", f"--incomplete={choose(['serve', 'fail', 'mark'])}",
                        f"--dst-broadcast-timeout={choose(['3s', '20s'])}",
                        *choose([[], ["--skip-slow-replicas"]]), *choose([[], [f"--allowed-bytes={8 << 20}"]]),
                        *choose([[], ["--aggregation-slice-size=200000"]])]

    def __str__(self):
        return (f"{self.count} nodes of {self.rows} rows, copies: {self.copies}, frames: {self.version}, "
                f"{self.executors} executors, {' '.join(self.options)}")

    def whole(self, function):
        """What the answer is when no row lacks."""
        once = sum(value(number) for number in range(self.rows)) if function == "SUM" else self.rows
        return once * (1 if self.copies else self.count)

    def faults(self):
        """Of one node: it behaves for some requests, then it does not."""
        return [{"times": self.random.randrange(1, 15)},
                {**self.random.choice(FAULTS), "times": self.random.choice([1, 1, 2, 5])}] * self.random.randrange(3)


class Asker:
    """Asks for totals and looks at what comes."""

    def __init__(self, scene, liaison):
        self.scene, self.clients = scene, [liaison.client() for _ in range(3)]
        self.outcomes = collections.Counter()

    def begin(self, timeout):
        choose = self.scene.random.choice
        function, traced = choose(["SUM", "COUNT"]), choose([{}, {}, {}, {"trace": True}])
        request = total(function, choose([None, None, "endpoint_id"]), seconds=self.scene.rows // 1000, **traced)
        return function, choose(self.clients).method(QUERY).future(request.SerializeToString(), timeout=timeout)

    def end(self, function, call):
        """How it ended: "whole", or another word that is no fault."""
        try:
            response, marked = parse("measure.v1.QueryResponse", call.result()), is_marked(call)
        except grpc.FutureCancelledError:
            outcome = "cancelled"
        except grpc.RpcError as why:
            outcome = why.code().name
        else:
            outcome = self.looked_at(function, response, marked)
        self.outcomes[outcome] += 1
        return outcome

    def looked_at(self, function, response, marked):
        if response.trace.error:
            return "failed trace"
        found = sum(point.fields[0].value.int.value for point in response.data_points)
        whole = self.scene.whole(function)
        assert found <= whole if marked else found == whole, f"{function}: {found}, marked: {marked}, whole: {whole}"
        return "marked" if marked else "whole"

    def burst(self):
        """Some at once, of clients that are in a hurry or leave."""
        source = self.scene.random
        calls = [self.begin(source.choice([0.05, 0.2, 0.5, 2, 5])) for _ in range(source.choice([1, 2, 4, 8]))]
        if source.random() < 0.4:
            time.sleep(source.random() * 0.5)
            calls[0][1].cancel()
        for function, call in calls:
            self.end(function, call)

    def is_answered(self):
        return self.end(*self.begin(timeout=60)) == "whole"


def is_marked(call):
    return "banyandb-incomplete" in dict(call.trailing_metadata())


def disturb(scene, nodes, liaison, asker):
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        nodes.control(fault={name: scene.faults() or None for name in nodes.names})
        asker.burst()
        liaison.process.expect_running()
    nodes.control(fault=UNSPOILT)


def expect_all_well(nodes, liaison, asker):
    liaison.wait_ready(nodes.names)
    wait_until(asker.is_answered, 60, "a whole answer")
    assert liaison.metric("bydb_aggregation_slices_total") > 1
    liaison.expect_nothing_alive(20)


def end_amid_queries(scene, liaison, asker):
    """Status 0, and what is still answered is right."""
    calls = [asker.begin(timeout=20) for _ in range(9)]
    time.sleep(scene.random.random() * 0.4)
    liaison.stop()
    for function, call in calls:
        asker.end(function, call)


@pytest.mark.sanitize
@pytest.mark.seconds(180 + SECONDS)
@pytest.mark.parametrize("seed", range(SEED, SEED + (2 if is_sanitized() else 4)))
def test_no_answer_lacks_rows_unsaid(seed):
    require_binary()
    scene = Scene(seed)
    print(f"seed {seed}: {scene}")
    with running(["--demo", "--nodes", scene.count, "--frame-version", scene.version], scene.options, ends=True,
                 executors=scene.executors) as (nodes, liaison):
        timeline(nodes, scene.rows, copies=scene.copies)
        asker = Asker(scene, liaison)
        disturb(scene, nodes, liaison, asker)
        expect_all_well(nodes, liaison, asker)
        end_amid_queries(scene, liaison, asker)
    print(dict(asker.outcomes))
