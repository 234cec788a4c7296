#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What small queries pay for huge ones that run on the same executors.

    small_beside_huge.py [--seconds 15] [--huge 3] [--rate 40] [--liaison PROGRAM] [-- LIAISON FLAGS]

Small queries (20 rows) are asked at a steady rate of two liaisons: of the one that has to answer the huge queries, and
of a second one that has nothing else to do. Both ask the same node for the small ones, which has no part in the huge
ones; so what the second one's clients wait longer is the machine's doing, and what the first one's wait longer than
those is ours. The phases: nothing huge; --huge clients that ask again and again for 300,000 rows; one client whose
aggregation of 3,000,000 rows is pulled. Then how long the turns of the executors' loops were, of their own time.
"""
import argparse
import contextlib
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

BUSY = ["d1", "d2", "d3"]
QUIET = "d4"
ROWS = 100_000              # of each busy node, in an answer of rows
PULLED = 1_000_000          # likewise, for the aggregation
BEGIN_MS = 1_790_000_000_000
FLAGS = ["--aggregation=rows", "--measure-vectorized-query-memory-mib=192", "--dst-broadcast-timeout=90s",
         "--data-client-health-check-interval=1h"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=15, help="of each phase")
    parser.add_argument("--huge", type=int, default=3, help="clients that ask for huge answers of rows")
    parser.add_argument("--rate", type=float, default=40, help="small queries a second, of each liaison")
    parser.add_argument("--liaison", help="the program; default: BYDB_LIAISON, else build/liaison/bydb-liaison")
    parser.add_argument("flags", nargs="*", help="for the liaison, after --")
    return parser.parse_args()


# --------------------------------------------------------------------- nodes

DAY = {"unit": "UNIT_DAY", "num": 1}
STAGE = {"name": "quiet", "shardNum": 1, "segmentInterval": DAY, "ttl": {"unit": "UNIT_DAY", "num": 7},
         "nodeSelector": "type=quiet"}
GROUP = {"metadata": {"name": "quiet"}, "catalog": "CATALOG_MEASURE", "resourceOpts": {
    "shardNum": 1, "segmentInterval": DAY, "ttl": STAGE["ttl"], "stages": [STAGE], "defaultStages": ["quiet"]}}
MEASURE = {"metadata": {"group": "quiet", "name": "thing"}, "entity": {"tagNames": ["id"]}, "interval": "1m",
           "tagFamilies": [{"name": "default", "tags": [{"name": "id", "type": "TAG_TYPE_STRING"}]}],
           "fields": [{"name": "value", "fieldType": "FIELD_TYPE_INT", "encodingMethod": "ENCODING_METHOD_GORILLA",
                       "compressionMethod": "COMPRESSION_METHOD_ZSTD"}]}


def start_nodes(apart):
    """Four processes that know the group `quiet`; d4 has its rows."""
    now = time.time_ns()
    for node in apart.nodes.values():
        node.control(schema=[{"action": "insert", "kind": kind, "object": document, "revision": now}
                             for kind, document in (("group", GROUP), ("measure", MEASURE))])
    apart.nodes[QUIET].control(timeline={QUIET: {"rows": 20, "begin": BEGIN_MS * 1_000_000}})


def rows_from(apart):
    for name in BUSY:
        apart.nodes[name].control(timeline={name: None}, synthetic={name: {"name": "w9", "rows": ROWS}})


def pulled_from(apart):
    for number, name in enumerate(BUSY):
        apart.nodes[name].control(synthetic={name: None}, timeline={name: {
            "rows": PULLED, "begin": BEGIN_MS * 1_000_000, "first_series": 1000 * number}})


# ------------------------------------------------------------------- queries

def requests():
    """(small, huge, pulled)"""
    from asking import ask, query
    from client import time_range
    tags = [f"default.tag{number}" for number in range(3)]
    range_of = time_range(BEGIN_MS, BEGIN_MS + PULLED)
    return (query(ask("quiet", "thing", ["default.id"], ["value"], limit=100, timeRange=range_of)),
            query(ask("sw_latency", "endpoint_latency_minute", tags, ["value"], limit=3 * ROWS)),
            query(ask("sw_latency", "endpoint_latency_minute", ["default.endpoint_id"], ["value"], limit=100_000,
                      timeRange=range_of, agg={"function": "AGGREGATION_FUNCTION_MEAN", "fieldName": "value"},
                      groupBy={"tagProjection": {"tagFamilies": [{"name": "default", "tags": ["endpoint_id"]}]}})))


# --------------------------------------------------------------------- drill

def row(phase, who, outcomes):
    from load import percentile, summary
    times = "".join(f"{percentile(outcomes, share) * 1000:10.1f}" for share in (.5, .99, 1))
    print(f"{phase:<22}{who:<22}{len(outcomes):8}{times}", *[summary(outcomes)] * any(o.code for o in outcomes))


def tell(phase, begin, end, same, beside):
    from load import percentile
    ours, others = same.between(begin, end), beside.between(begin, end)
    row(phase, "of this liaison", ours)
    row("", "of the one beside", others)
    return percentile(ours, .99) / percentile(others, .99)


def run(options):
    from apart import Apart
    from asker import Asker
    from liaison import Liaison
    from load import Load
    from turns import turns_text
    small, huge, pulled = requests()
    with contextlib.ExitStack() as stack:
        apart = Apart("--demo", "--nodes", 4, "--label", f"{QUIET}:type=quiet")
        stack.callback(apart.stop)
        start_nodes(apart)
        liaison, second = (Liaison(apart.discovery, *FLAGS, *options.flags) for _ in range(2))
        for each in (liaison, second):
            stack.callback(each.kill)
            each.wait_ready(apart.names)
        same, beside = (stack.enter_context(Load(each.address, [small], 4, options.rate)) for each in (liaison, second))
        time.sleep(2)
        print(f"{'phase':<22}{'small queries':<22}{'asked':>8}{'p50 ms':>10}{'p99 ms':>10}{'max ms':>10}")
        ratios = {}
        for phase, prepare, request, clients in (("nothing huge", None, huge, 0),
                                                 (f"{options.huge} × 300,000 rows", rows_from, huge, options.huge),
                                                 ("pulled aggregation", pulled_from, pulled, 1)):
            if prepare:
                prepare(apart)
            with Asker(liaison.address, request, clients) as asked:
                began = time.monotonic()
                time.sleep(options.seconds)
                ended = time.monotonic()
            ratios[phase] = tell(phase, began, ended, same, beside)
            for outcome, times in asked.outcomes.items():
                print(f"   {times} × {outcome}")
            print(f"   so far: {turns_text(liaison)}")
    print("p99 of this liaison over that of the one beside:",
          ", ".join(f"{ratio:.2f} ({phase})" for phase, ratio in ratios.items()))


def main():
    options = arguments()
    if options.liaison:
        os.environ["BYDB_LIAISON"] = options.liaison
    run(options)


if __name__ == "__main__":
    main()
