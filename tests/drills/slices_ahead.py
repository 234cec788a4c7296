#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What asking ahead gains: an aggregation in slices over two nodes that take a while for each answer.

    slices_ahead.py [--rows 200000] [--delay 30] [--memory 4] [--times 7] [--liaison PROGRAM] [--beside PROGRAM]
                    [-- LIAISON FLAGS]

Asks the same several times, by turns in two ways: as clients do, and traced, for of a traced query no slice is asked
before its turn; with --beside as clients do, but of another build. Prints how long each took, with how many questions
to a node, and how the medians compare.
"""
import argparse
import contextlib
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000, help="of each node")
    parser.add_argument("--delay", type=int, default=30, help="milliseconds before each answer")
    parser.add_argument("--memory", type=int, default=4, help="of a query, in MiB")
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--liaison", help="the program; default: BYDB_LIAISON, else build/liaison/bydb-liaison")
    parser.add_argument("--beside", help="another build, instead of a traced query")
    parser.add_argument("flags", nargs="*", help="for the liaison, after --")
    return parser.parse_args()


def measure(nodes, client, rows, trace):
    """(seconds, questions to a node) of one query."""
    from sliced import only, ranges_of, total
    nodes.control(clear=None)
    began = time.monotonic()
    found = only(client.query(total("COUNT", seconds=rows // 1000, trace=trace), timeout=300))
    took = time.monotonic() - began
    assert found == 2 * rows, found
    return took, len(ranges_of(nodes))


def ask_by_turns(nodes, ways, options):
    """{way: [(seconds, questions)]} for {way: (client, traced)}."""
    found = {way: [] for way in ways}
    for _ in range(options.times):
        for way, (client, trace) in ways.items():
            found[way].append(measure(nodes, client, options.rows, trace))
    return found


def run(options):
    from fixtures import running, serving
    from sliced import timeline
    flags = ["--aggregation=rows", f"--measure-vectorized-query-memory-mib={options.memory}", *options.flags]
    with contextlib.ExitStack() as stack:
        nodes, liaison = stack.enter_context(running(["--demo", "--nodes", 2], flags))
        client = stack.enter_context(contextlib.closing(liaison.client()))
        ways = {"some ahead": (client, False), "one at a time": (client, True)}
        if options.beside:
            os.environ["BYDB_LIAISON"] = options.beside
            other = stack.enter_context(serving(nodes, flags))
            ways["one at a time"] = (stack.enter_context(contextlib.closing(other.client())), False)
        timeline(nodes, options.rows)
        nodes.fault("*", delay_ms=options.delay)
        found = ask_by_turns(nodes, ways, options)
    for way, outcomes in found.items():
        print(f"{way:14}", "  ".join(f"{took:.2f} s ({questions})" for took, questions in outcomes))
    ahead, alone = (statistics.median(took for took, _ in outcomes) for outcomes in found.values())
    print(f"medians {ahead:.2f} s and {alone:.2f} s: asking ahead takes {ahead / alone:.2f} of the time")


def main():
    options = arguments()
    if options.liaison:
        os.environ["BYDB_LIAISON"] = options.liaison
    run(options)


if __name__ == "__main__":
    main()
