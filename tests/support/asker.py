#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the same query again and again, in a process of its own: clients that take huge answers are busy.

    asker.py ADDRESS CLIENTS    reads a request (base64, one line), asks until its standard input ends, and prints
                                JSON then: how often there was which outcome
"""
import base64
import collections
import json
import pathlib
import subprocess
import sys
import threading

import grpc

from client import Client
from process import END_WITH_PARENT


class Asker:
    """While the block runs; `outcomes` afterwards."""

    def __init__(self, address, request, clients):
        self.address, self.clients = address, clients
        self.request = base64.b64encode(request.SerializeToString()) + b"\n"
        self.outcomes = {}

    def __enter__(self):
        command = [sys.executable, "-B", str(pathlib.Path(__file__)), self.address, str(self.clients)]
        self.process = subprocess.Popen(END_WITH_PARENT + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write(self.request)
        self.process.stdin.flush()
        return self

    def __exit__(self, *_):
        said, _ = self.process.communicate()
        self.outcomes = json.loads(said)


def ask(address, request, outcomes, over):
    with Client(address) as client:
        while not over.is_set():
            try:
                outcome = f"{len(client.query_bytes(request, timeout=120)):,} bytes"
            except grpc.RpcError as why:
                outcome = why.details()
            outcomes[outcome] += 1


def main(address, clients):
    from proto import parse
    request = parse("measure.v1.QueryRequest", base64.b64decode(sys.stdin.readline()))
    outcomes, over = collections.Counter(), threading.Event()
    threads = [threading.Thread(target=ask, args=(address, request, outcomes, over)) for _ in range(int(clients))]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join()
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
