#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Many clients that ask for 10 MiB and read a kilobyte a second; others ask for little meanwhile.

    BYDB_LIAISON=<binary> tests/soak/slow_readers.py [--readers 1000] [--seconds 90] [--budget 512MiB]

What fits the budget is served, the rest is refused; no small query is ever refused; readers that take less than
64 KiB within --client-stall-timeout (--stall 1m) are cut and told why. --seconds has to be half as long again, or
nobody is cut yet, which fails. Prints how long small queries take meanwhile (99 of 100 are faster), beside an idle
liaison's. Times are told, never judged.
"""
import argparse
import pathlib
import resource
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import grpc  # noqa: E402

from asking import DESC, ask, query  # noqa: E402
from client import time_range  # noqa: E402
from liaison import Liaison  # noqa: E402
from nodes import Nodes  # noqa: E402
from proto import message  # noqa: E402
from resident import peak  # noqa: E402
from slow import Crowd, Reader  # noqa: E402

MIB = 1 << 20
ROWS = 45_000       # of three nodes: 10 MiB of answer
WIDE = ask("sw_latency", "endpoint_latency_minute", ["default.tag0", "default.tag1", "default.tag2"], ["value"],
           limit=ROWS)
# The large answer is for all measure queries of the sample nodes, so the small ones are of another kind.
LITTLE = message("measure.v1.TopNRequest", {
    "groups": ["sw_metric"], "name": "service_instance_cpm_minute_topn", "topN": 5,
    "timeRange": time_range(0, 4_000_000_000_000), "agg": "AGGREGATION_FUNCTION_SUM", "fieldValueSort": DESC})
EXHAUSTED = 8


class Small:
    """Small queries, one after the other."""

    def __init__(self, liaison):
        self.liaison = liaison
        self.seconds, self.failures = [], []
        self.over = threading.Event()

    def ask_until_over(self):
        with self.liaison.client() as client:
            while not self.over.is_set():
                began = time.monotonic()
                try:
                    client.topn(LITTLE, timeout=20)
                except grpc.RpcError as why:
                    self.failures.append(f"{why.code().name}: {why.details()}")
                self.seconds.append(time.monotonic() - began)
                self.over.wait(0.05)

    def __enter__(self):
        self.thread = threading.Thread(target=self.ask_until_over)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def p99(self):
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


def come(liaison, crowd, readers):
    """They come in small crowds, as the sample nodes are slow."""
    request = query(WIDE).SerializeToString()
    while len(crowd.readers) < readers:
        for _ in range(min(10, readers - len(crowd.readers))):
            crowd.add(Reader(liaison.ports["grpc"], request))
        until = time.monotonic() + 20
        while liaison.metric("bydb_live_queries") > 10 and time.monotonic() < until:
            crowd.serve(0.05)
        crowd.serve(0.1)


def read_slowly(crowd, seconds):
    for _ in range(int(seconds)):
        crowd.open_windows(1024)
        crowd.serve(1)


def report(crowd, liaison, small, idle):
    exhausted = [reader for reader in crowd.readers if reader.status == EXHAUSTED]
    refused = [reader for reader in exhausted if not reader.taken]
    cut = [reader for reader in exhausted if reader.taken]
    other = [reader.text for reader in crowd.readers if reader.status not in (None, EXHAUSTED)]
    other += [f"reset with {reader.reset}" for reader in crowd.readers if reader.reset]
    served = len(crowd.readers) - len(refused) - len(other)
    print(f"{len(crowd.readers)} readers: {served} served, {len(refused)} refused, {len(other)} failed otherwise; "
          f"{len(cut)} of the served cut ({liaison.metric('bydb_cut_answers_total'):.0f} by count)")
    print(f"resident at most {peak(liaison.process.pid) / MIB:.0f} MiB")
    print(f"small queries: {len(small.seconds)} asked, {len(small.failures)} failed; "
          f"p99 {small.p99():.1f} ms, idle {idle.p99():.1f} ms")
    for text in sorted(set(other + small.failures))[:5]:
        print("   ", text[:300])
    return not other and not small.failures and bool(cut) and bool(refused)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readers", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--budget", default="512MiB")
    parser.add_argument("--stall", default="1m")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    nodes = Nodes("--demo", "--nodes", "3")
    quiet = Nodes("--demo", "--nodes", "3")
    liaison = Liaison(nodes.discovery, f"--allowed-bytes={options.budget}", f"--client-stall-timeout={options.stall}",
                      "--dst-broadcast-timeout=90s", "--data-client-health-check-interval=1h",
                      env={"BYDB_POISON_RELEASED": "0"})
    beside = Liaison(quiet.discovery)
    crowd = Crowd()
    try:
        liaison.wait_ready(nodes.names)
        beside.wait_ready(quiet.names)
        nodes.control(synthetic={"*": {"name": "w3", "rows": ROWS // 3}})
        with Small(beside) as idle, Small(liaison) as small:
            come(liaison, crowd, options.readers)
            read_slowly(crowd, options.seconds)
        good = report(crowd, liaison, small, idle)
        crowd.close()
        liaison.expect_nothing_alive(30)
    finally:
        liaison.kill()
        beside.kill()
        nodes.stop()
        quiet.stop()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
