#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""All kinds of queries, failing nodes and leaving clients at the same time, then a look at what is left.

    BYDB_LIAISON=<binary> tests/soak/soak.py                     five minutes, or SOAK_SECONDS
    tests/soak/soak.py --queries 100000                          until so many queries have ended

The load comes in five parts (--parts). After each of them there are no queries for a while, every live count
has to come down to zero, and resident memory is read. The first part is the warm-up: growth is what is
resident after the last part over what was resident after the first, and more than --growth percent of it is a
failure. After the first and the last one, of 40 MiB and more of answers that nobody reads, the allocator may
have given out at most 1.05 times what is charged. The last line is JSON with the figures.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import grpc  # noqa: E402

from asking import query  # noqa: E402
from liaison import Liaison  # noqa: E402
from mixture import WIDE, Mixture, add_second_group  # noqa: E402
from nodes import Nodes  # noqa: E402
from process import wait_until  # noqa: E402
from resident import peak, resident  # noqa: E402
from slow import Crowd, Reader  # noqa: E402

MIB = 1 << 20
THREADS = 6
QUIET = 14      # seconds without queries, after which all that is kept for them has been given back
LARGE = {**WIDE, "limit": 100_000}
FAULTS = [{"delay_ms": 300}, {"error": "a node's own trouble"}, {"truncate": 1000}, {"mutate": 20, "seed": 7},
          {"status": {"code": "UNAVAILABLE", "message": "busy"}}, {"no_message": True}, {"garbage": 5000},
          {"huge": "rows"}, {"huge": "columns"}, {"huge": "names"}, {"close": True}, {"hang": True}]


class Soak:
    def __init__(self, options):
        self.options = options
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self.outcomes = collections.Counter()
        self.reasons = collections.Counter()
        self.faults = collections.Counter()
        self.worst = 0.0        # held over charged
        self.nodes = Nodes("--demo", "--nodes", "3")
        add_second_group(self.nodes)
        self.liaison = Liaison(self.nodes.discovery, "--allowed-bytes=512MiB", "--client-stall-timeout=5s",
                               "--dst-broadcast-timeout=4s", "--data-client-health-check-interval=2s",
                               env={"BYDB_POISON_RELEASED": "0"})
        self.liaison.wait_ready(self.nodes.names)

    @property
    def queries(self):
        return self.outcomes.total()

    def count(self, outcome, reason=""):
        with self.lock:
            self.outcomes[outcome] += 1
            if reason:
                self.reasons[f"{outcome}: {reason[:100]}"] += 1

    # ---------------------------------------------------------------- load

    def ask_for_ever(self, seed):
        """One client after the other; some of their queries are given up in the middle."""
        mixture = Mixture(seed)
        while not self.ended.is_set():
            with self.liaison.client() as client:
                for _ in range(200):
                    if self.ended.is_set():
                        return
                    path, data = mixture.next()
                    call = client.method(path).future(data, timeout=20)
                    if mixture.chance.random() < 0.05:
                        time.sleep(mixture.chance.random() * 0.02)
                        call.cancel()
                    self.count(*self.outcome(call))

    @staticmethod
    def outcome(call):
        try:
            call.result()
        except grpc.FutureCancelledError:
            return ("left",)
        except grpc.RpcError as why:
            return why.code().name, why.details()
        return ("OK",)

    def read_slowly(self):
        """Clients that leave, and clients that are cut, with their answers half read."""
        request = query(LARGE).SerializeToString()
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
            fault = chance.choice(FAULTS)
            self.faults[next(iter(fault))] += 1
            node = chance.choice(self.nodes.names)
            self.control(fault={node: {**fault, "times": chance.randrange(1, 6)}})
            if chance.random() < 0.2:
                self.control(synthetic={"*": chance.choice([None, {"name": "w3"}])})
            self.ended.wait(chance.random() * 2)
            self.control(fault={node: None})

    def load(self, is_over):
        self.ended.clear()
        seed = self.queries
        threads = [threading.Thread(target=self.ask_for_ever, args=(seed + number,)) for number in range(THREADS)]
        threads += [threading.Thread(target=self.read_slowly), threading.Thread(target=self.make_trouble)]
        for thread in threads:
            thread.start()
        while not is_over():
            time.sleep(0.5)
            self.liaison.process.expect_running()
        self.ended.set()
        for thread in threads:
            thread.join()
        self.control(fault={"*": None}, synthetic={"*": None})

    # ---------------------------------------------------------------- looks

    def figures(self):
        metrics = self.liaison.metrics()
        return {"charged": sum(value for (name, _), value in metrics.items() if name == "bydb_charged_bytes"),
                "held": metrics["bydb_held_bytes", ()], "links": self.liaison.metric("bydb_live_links"),
                "resident": resident(self.liaison.process.pid)}

    def settle(self):
        """Until nothing is alive and free memory has been given back."""
        self.liaison.wait_ready(self.nodes.names, 120)
        self.liaison.expect_nothing_alive(30)
        time.sleep(QUIET)
        return {"queries": self.queries, **self.figures()}

    def compare(self, idle):
        """Held over charged with answers that nobody reads: nothing moves between the two looks."""
        wait_until(lambda: self.is_compared(idle), 120, "answers that are not cut before they are looked at")

    def is_compared(self, idle):
        """Not when the machine was so busy that the readers have been given up meanwhile."""
        crowd = Crowd()
        self.control(synthetic={"*": {"name": "w3"}})
        for _ in range(8):
            crowd.add(Reader(self.liaison.ports["grpc"], query(LARGE).SerializeToString()))
        wait_until(lambda: self.liaison.metric("bydb_charged_bytes", kind="response") > 40 * MIB, 20, "answers")
        time.sleep(4)           # what is kept for later queries is given up
        now = self.figures()
        crowd.close()
        self.control(synthetic={"*": None})
        charged = now["charged"] - idle["charged"]
        if charged > 40 * MIB:
            self.worst = max(self.worst, (now["held"] - idle["held"]) / charged)
        return charged > 40 * MIB

    # ---------------------------------------------------------------- all

    def part(self, number):
        if self.options.queries is not None:
            until = self.options.queries * number // self.options.parts
            self.load(lambda: self.queries >= until)
        else:
            until = time.monotonic() + self.options.seconds / self.options.parts
            self.load(lambda: time.monotonic() >= until)
        look = self.settle()
        if number in (1, self.options.parts):
            self.compare(look)
            look = self.settle()
        print(f"{look['queries']} queries, {look['resident'] / MIB:.2f} MiB resident, {look['held'] / MIB:.2f} MiB "
              f"held, {look['charged'] / MIB:.2f} MiB charged", flush=True)
        return look

    def run(self):
        began = time.monotonic()
        idle = self.settle()
        looks = [self.part(number + 1) for number in range(self.options.parts)]
        warm, end = looks[0], looks[-1]
        assert end["links"] == idle["links"], f"{end['links']} connections to nodes, {idle['links']} at the beginning"
        for reason, times in self.reasons.most_common(12):
            print(f"{times:7} {reason}")
        return {"queries": self.queries, "seconds": round(time.monotonic() - began), "outcomes": dict(self.outcomes),
                "faults": dict(self.faults), "idle_mib": round(idle["resident"] / MIB, 2),
                "resident_mib": [round(look["resident"] / MIB, 3) for look in looks],
                "held_mib": [round(look["held"] / MIB, 3) for look in looks],
                "peak_mib": round(peak(self.liaison.process.pid) / MIB, 1),
                "growth_percent": round(100 * (end["resident"] / warm["resident"] - 1), 2),
                "held_over_charged": round(self.worst, 4)}

    def close(self):
        self.liaison.kill()
        self.nodes.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SOAK_SECONDS", "300")))
    parser.add_argument("--queries", type=int, help="this many instead")
    parser.add_argument("--parts", type=int, default=5)
    parser.add_argument("--growth", type=float, default=1.0, metavar="PERCENT", help="of resident memory, at most")
    options = parser.parse_args()
    soak = Soak(options)
    try:
        figures = soak.run()
    finally:
        soak.close()
    faults = []
    if figures["growth_percent"] > options.growth:
        faults.append(f"resident memory has grown by {figures['growth_percent']} %, {options.growth} % are allowed")
    if figures["held_over_charged"] > 1.05:
        faults.append("more than 1.05 times is held of what is charged")
    print(*faults, json.dumps(figures), sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
