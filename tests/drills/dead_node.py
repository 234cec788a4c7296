#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What a dead data node costs: clients ask at a steady rate while one of three nodes is frozen or killed.

    dead_node.py [--how freeze|kill] [--away 60] [--rate 40] [--seconds 10] [--liaison PROGRAM] [-- LIAISON FLAGS]

Prints, for each phase, how many queries were answered whole, marked incomplete, or failed, and how long they took;
then how long it took until the node's absence was known, and until it was used again. A frozen node is known to be
one within --data-client-health-check-interval (10s) and two seconds; from then on nobody should wait for it.
"""
import argparse
import contextlib
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--how", choices=["freeze", "kill"], default="freeze")
    parser.add_argument("--rate", type=float, default=40, help="queries a second")
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=10, help="of the phases before and after")
    parser.add_argument("--away", type=float, default=60, help="seconds for which the node is frozen or gone")
    parser.add_argument("--liaison", help="the program; default: BYDB_LIAISON, else build/liaison/bydb-liaison")
    parser.add_argument("flags", nargs="*", help="for the liaison, after --")
    return parser.parse_args()


def row(name, outcomes):
    from load import percentile
    failed = sum(outcome.code is not None for outcome in outcomes)
    marked = sum("banyandb-incomplete" in outcome.trailers for outcome in outcomes)
    times = "".join(f"{percentile(outcomes, share) * 1000:10.0f}" for share in (.5, .99, 1))
    print(f"{name:<24}{len(outcomes):8}{len(outcomes) - failed - marked:8}{marked:8}{failed:8}{times}")


def run(options):
    from apart import Apart
    from asking import CPM, LATENCY, ask, query
    from client import rfc3339
    from liaison import Liaison
    from load import Load, percentile
    from process import wait_until
    begin = int(time.time() * 1000) - 2 * 3_600_000
    requests = [query({**ask(*measure, limit=10_000), "timeRange": {"begin": rfc3339(begin), "end": rfc3339(begin * 2)}})
                for measure in (CPM, LATENCY)]
    with contextlib.ExitStack() as stack:
        apart = Apart("--demo", "--nodes", 3)
        stack.callback(apart.stop)
        liaison = Liaison(apart.discovery, *options.flags)
        stack.callback(liaison.kill)
        liaison.wait_ready(apart.names)
        with Load(liaison.address, requests, options.clients, options.rate) as load:
            time.sleep(options.seconds)
            died = time.monotonic()
            apart.freeze("d2") if options.how == "freeze" else apart.kill("d2")
            wait_until(lambda: liaison.metric("bydb_node_up", node="d2") == 0, 60, "the liaison noticing")
            known = time.monotonic()
            time.sleep(max(0, died + options.away - time.monotonic()))
            if options.how == "kill":
                apart.start("d2")
            back = time.monotonic()
            apart.thaw("d2") if options.how == "freeze" else apart.list()
            wait_until(lambda: liaison.metric("bydb_node_up", node="d2") == liaison.executors, 60, "its return")
            used = time.monotonic()
            time.sleep(options.seconds)
    print(f"{'phase':<24}{'queries':>8}{'whole':>8}{'marked':>8}{'failed':>8}{'p50 ms':>10}{'p99 ms':>10}{'max ms':>10}")
    before = [outcome for outcome in load.between(0, died) if outcome.at + outcome.took < died]
    caught = [outcome for outcome in load.between(0, known) if outcome.at + outcome.took >= died]
    row("before", before)
    row(f"not known ({known - died:.1f} s)", caught)
    row("known to be down", load.between(known, back))
    row(f"coming back ({used - back:.1f} s)", load.between(back, used))
    row("after", load.between(used, float("inf")))
    whole, down = (percentile(outcomes, .99) * 1000 for outcomes in (before, load.between(known, back)))
    print(f"known to be down after {known - died:.1f} s, used again {used - back:.1f} s after its return; "
          f"p99 {whole:.0f} ms before, {down:.0f} ms while known to be down: {down / whole:.2f} times")


def main():
    options = arguments()
    if options.liaison:
        os.environ["BYDB_LIAISON"] = options.liaison
    run(options)


if __name__ == "__main__":
    main()
