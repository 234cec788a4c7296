#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""All kinds of queries, failing nodes and leaving clients at the same time, then a look at what is left.

    BYDB_LIAISON=<binary> tests/soak/soak.py                     five minutes, or SOAK_SECONDS
    tests/soak/soak.py --queries 100000                          until so many queries have ended

At the end every live count is zero; resident memory has grown by less than 1 % (and two megabytes, below
which it is chance how pages are broken up) since the warm-up; and whenever a megabyte or more was charged, the
allocator had given out at most 1.05 times as much. The last line is JSON with the figures.
"""
import argparse
import json
import os
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import grpc  # noqa: E402

from asking import APDEX, CPM, DESC, EQ, INSTANCE, LATENCY, SERVICES, ask, by, query, where  # noqa: E402
from client import QUERY, TOPN, time_range  # noqa: E402
from liaison import Liaison  # noqa: E402
from nodes import Nodes  # noqa: E402
from process import wait_until  # noqa: E402
from proto import message  # noqa: E402
from slow import Crowd, Reader  # noqa: E402

MIB = 1 << 20
THREADS = 6
WIDE = ask("sw_latency", "endpoint_latency_minute", ["default.tag0", "default.tag1", "default.tag2"], ["value"])
GROUPED = {"groupBy": {"tagProjection": {"tagFamilies": [{"name": "default", "tags": ["service_id"]}]},
                       "fieldName": "value"},
           "agg": {"function": "AGGREGATION_FUNCTION_SUM", "fieldName": "value"}}
QUERIES = [
    ask(*CPM, limit=1000), ask(*LATENCY, limit=1000, orderBy=by(sort=DESC)), ask(*APDEX), ask(*SERVICES),
    ask(*INSTANCE, orderBy=by("version", DESC), limit=50), ask(*CPM, criteria=where("layer", EQ, 4)),
    ask(*CPM, trace=True), ask("sw_metric", "nothing", ["a.b"]), ask(*CPM, **GROUPED),
    ask(*CPM, top={"number": 5, "fieldName": "value", "fieldValueSort": DESC}),
    {**WIDE, "limit": 100}, {**WIDE, "limit": 100_000},
]
FAULTS = [{"delay_ms": 300}, {"error": "a node's own trouble"}, {"truncate": 1000}, {"mutate": 20, "seed": 7},
          {"status": {"code": "UNAVAILABLE", "message": "busy"}}, {"no_message": True},
          {"garbage": 5000}]


def topn(rank):
    return message("measure.v1.TopNRequest", {
        "groups": ["sw_metric"], "name": "service_instance_cpm_minute_topn", "topN": 5 + rank % 20,
        "timeRange": time_range(0, 4_000_000_000_000), "agg": "AGGREGATION_FUNCTION_SUM", "fieldValueSort": DESC})


class Soak:
    def __init__(self, options):
        self.options = options
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self.outcomes = {}
        self.worst = 0.0        # held over charged
        self.nodes = Nodes("--demo", "--nodes", "3")
        self.liaison = Liaison(self.nodes.discovery, "--allowed-bytes=512MiB", "--client-stall-timeout=5s",
                               "--dst-broadcast-timeout=4s", "--data-client-health-check-interval=2s",
                               env={"BYDB_POISON_RELEASED": "0"})
        self.liaison.wait_ready(self.nodes.names)

    @property
    def queries(self):
        return sum(self.outcomes.values())

    def count(self, outcome):
        with self.lock:
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    # ---------------------------------------------------------------- load

    def ask_for_ever(self, seed):
        """One client after the other; some of them leave in the middle."""
        chance = random.Random(seed)
        requests = [query(document).SerializeToString() for document in QUERIES]
        while not self.ended.is_set():
            with self.liaison.client() as client:
                for _ in range(200):
                    if self.ended.is_set():
                        return
                    path, data = ((TOPN, topn(chance.randrange(40)).SerializeToString()) if chance.random() < 0.1
                                  else (QUERY, chance.choice(requests)))
                    call = client.method(path).future(data, timeout=20)
                    if chance.random() < 0.05:
                        time.sleep(chance.random() * 0.02)
                        call.cancel()
                    self.count(self.outcome(call))

    @staticmethod
    def outcome(call):
        try:
            call.result()
        except grpc.FutureCancelledError:
            return "left"
        except grpc.RpcError as why:
            return why.code().name
        return "OK"

    def read_slowly(self):
        """Clients that leave, and clients that are cut, with their answers half read."""
        request = query({**WIDE, "limit": 100_000}).SerializeToString()
        while not self.ended.is_set():
            crowd = Crowd()
            for _ in range(5):
                crowd.add(Reader(self.liaison.ports["grpc"], request))
            for _ in range(random.randrange(2, 9)):
                crowd.serve(1)
                crowd.open_windows(4096)
            crowd.close()

    def control(self, **commands):
        """The sample nodes are one busy program in Python: it may take a while to be heard."""
        for _ in range(5):
            try:
                return self.nodes.control(**commands)
            except OSError:
                continue
        raise AssertionError("the sample nodes do not listen")

    def make_trouble(self):
        chance = random.Random(3)
        self.control(synthetic={"*": {"name": "w3"}})
        while not self.ended.is_set():
            node = chance.choice(self.nodes.names)
            self.control(fault={node: {**chance.choice(FAULTS), "times": chance.randrange(1, 6)}})
            if chance.random() < 0.2:
                self.control(synthetic={"*": chance.choice([None, {"name": "w3"}])})
            self.ended.wait(chance.random() * 2)
            self.control(fault={node: None})

    # ---------------------------------------------------------------- looks

    def resident(self):
        with open(f"/proc/{self.liaison.process.process.pid}/status", encoding="ascii") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))

    def figures(self):
        metrics = self.liaison.metrics()
        return (sum(value for (name, _), value in metrics.items() if name == "bydb_charged_bytes"),
                metrics["bydb_held_bytes", ()])

    def settle(self):
        """Until nothing is alive and free memory has been given back: (charged, held, resident)."""
        self.liaison.expect_nothing_alive(30)
        time.sleep(6)
        return (*self.figures(), self.resident())

    def compare(self, idle):
        """Held over charged with answers that nobody reads: nothing moves between the two looks."""
        crowd = Crowd()
        self.control(fault={"*": None}, synthetic={"*": {"name": "w3"}})
        self.liaison.wait_ready(self.nodes.names, 120)
        for _ in range(8):
            crowd.add(Reader(self.liaison.ports["grpc"], query({**WIDE, "limit": 100_000}).SerializeToString()))
        wait_until(lambda: self.liaison.metric("bydb_charged_bytes", kind="response") > 40 * MIB, 20, "answers")
        time.sleep(4)           # what is kept for later queries is given up
        charged, held = self.figures()
        crowd.close()
        self.worst = max(self.worst, (held - idle[1]) / (charged - idle[0]))

    def load(self, seconds, queries):
        self.ended.clear()
        threads = [threading.Thread(target=self.ask_for_ever, args=(seed,)) for seed in range(THREADS)]
        threads += [threading.Thread(target=self.read_slowly), threading.Thread(target=self.make_trouble)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + seconds
        while time.monotonic() < until if queries is None else self.queries < queries:
            time.sleep(0.5)
            self.liaison.process.expect_running()
        self.ended.set()
        for thread in threads:
            thread.join()
        self.control(fault={"*": None}, synthetic={"*": None})

    # ---------------------------------------------------------------- all

    def run(self):
        seconds = self.options.seconds
        idle = self.settle()
        self.load(seconds / 3, None if self.options.queries is None else self.options.queries // 10)
        self.compare(self.settle())
        warm = self.settle()
        self.load(seconds * 2 / 3, self.options.queries)
        self.compare(self.settle())
        end = self.settle()     # nothing is alive, or it fails
        return {"queries": self.queries, "outcomes": self.outcomes, "idle_mib": round(idle[2] / MIB, 2),
                "warm_mib": round(warm[2] / MIB, 2), "end_mib": round(end[2] / MIB, 2),
                "held_over_charged": round(self.worst, 4),
                "held_warm_mib": round(warm[1] / MIB, 2), "held_end_mib": round(end[1] / MIB, 2)}

    def close(self):
        self.liaison.kill()
        self.nodes.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SOAK_SECONDS", "300")))
    parser.add_argument("--queries", type=int, help="this many instead")
    soak = Soak(parser.parse_args())
    try:
        figures = soak.run()
    finally:
        soak.close()
    growth = figures["end_mib"] - figures["warm_mib"]
    if growth > 0.01 * figures["warm_mib"] + 2:
        print(f"resident memory has grown by {growth:.2f} MiB")
    elif figures["held_over_charged"] > 1.05:
        print("more is held than is charged")
    else:
        print(json.dumps(figures))
        return 0
    print(json.dumps(figures))
    return 1


if __name__ == "__main__":
    sys.exit(main())
