# SPDX-License-Identifier: Apache-2.0
"""Sample BanyanDB data nodes on loopback. Prints one line of JSON and serves until SIGTERM or SIGINT."""
import argparse
import json
import os
import signal
import sys
import tempfile
import threading
import time

import demo
import suite
from clock import DAY, from_iso, to_iso
from cluster import Cluster
from control import Commands, ControlServer
from rpc import HOST

SUITE_T0 = "2026-03-02T08:00:00Z"


def names(text):
    return text.split(",")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="datanode", description=__doc__)
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument("--suite", metavar="DIR", help="serve the schemas and rows of an acceptance suite folder")
    data.add_argument("--demo", action="store_true", help="serve sample data of the last hour")
    data.add_argument("--empty", action="store_true", help="serve neither schemas nor rows")
    parser.add_argument("--suite-variant", metavar="NAME", help="a folder of the suite's schemas, as alt_replicated")
    parser.add_argument("--nodes", type=int, default=2, choices=range(1, 6))
    parser.add_argument("--frame-version", choices=["3", "4", "mixed"], default="4",
                        help="wire version of the frames; mixed: 4 and 3 in turn, node by node")
    parser.add_argument("--no-constants", action="store_true", help="version 4 without constant columns")
    parser.add_argument("--replicas", type=int, help="replicas of every group, in the schema and in the placement")
    parser.add_argument("--only", type=names, help="start only these nodes, as d1,d3; another process plays the others")
    parser.add_argument("--rows-on", type=names, help="all rows on each of these nodes, whatever their shards")
    parser.add_argument("--label", metavar="NODE:KEY=VALUE", action="append", default=[], help="a label of a node")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"), help="both ports of each node speak TLS")
    parser.add_argument("--t0", help=f"the present, ISO 8601; default: {SUITE_T0} for a suite, else the clock")
    parser.add_argument("--created-at", help="when the schema objects were created; default: 30 days before T0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--discovery", metavar="FILE", help="where to write the discovery file; default: a temporary")
    parser.add_argument("--exit-with-stdin", action="store_true", help="also end when standard input is closed")
    return parser.parse_args(arguments)


def build(options):
    """The cluster that the options describe, loaded, not yet started, and its T0."""
    text = options.t0 or (SUITE_T0 if options.suite else None)
    t0 = from_iso(text) if text else time.time_ns()
    created_at = from_iso(options.created_at) if options.created_at else t0 - 30 * DAY
    versions = {"3": (3,), "4": (4,), "mixed": (4, 3)}[options.frame_version]
    cluster = Cluster(options.nodes, t0, created_at, versions, not options.no_constants, options.replicas, options.seed)
    cluster.pinned = options.rows_on
    for node in cluster.nodes.values():
        node.tls = options.tls
    for label in options.label:
        name, _, pair = label.partition(":")
        key, _, value = pair.partition("=")
        cluster.nodes[name].labels[key] = value
    if options.suite:
        suite.load(cluster, options.suite, t0, options.suite_variant)
    elif options.demo:
        demo.load(cluster, t0, options.seed)
    return cluster, t0


def end_of_program(with_stdin):
    """An event that is set by the first signal, or when standard input closes."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    if with_stdin:
        threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    return ended


def describe(cluster, t0, path, control):
    nodes = [{"name": node.name, "address": node.address, "schema_address": node.schema_address,
              "frame_version": node.frame_version} for node in cluster.nodes.values() if node.running]
    return {"discovery": path, "control": f"http://{HOST}:{control.port}/", "t0": to_iso(t0), "nodes": nodes}


def main():
    options = parse_arguments(sys.argv[1:])
    ended = end_of_program(options.exit_with_stdin)
    cluster, t0 = build(options)
    cluster.start(options.only)
    with tempfile.TemporaryDirectory(prefix="datanode-") as folder:
        path = options.discovery or os.path.join(folder, "nodes.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(cluster.discovery())
        control = ControlServer(Commands(cluster, path))
        control.start()
        print(json.dumps(describe(cluster, t0, path, control)), flush=True)
        ended.wait()
        control.stop()
    cluster.stop()


if __name__ == "__main__":
    main()
