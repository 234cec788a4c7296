# SPDX-License-Identifier: Apache-2.0
"""Sample data nodes (tests/datanode) as a process of their own."""
import json
import pathlib
import signal
import time
import urllib.error
import urllib.request
import weakref

import grpc
import yaml

import files
from cells import tag_of
from process import Process
from proto import ROOT, message, set_nanoseconds

INSERT = "/banyandb.schema.v1.SchemaManagementService/InsertSchema"

PYTHON = "/usr/bin/python3"


class Nodes:
    """Nodes("--demo", "--nodes", 3): their discovery file, names, addresses and T0 (ISO 8601)."""
    all = weakref.WeakSet()     # that run

    def __init__(self, *options):
        self.frozen, self.thawed_at = False, 0      # by the test
        command = [PYTHON, "-B", ROOT / "tests" / "datanode", *options]
        self.process = Process(command, piped=True)
        line = self.process.process.stdout.readline()
        if not line:
            self.process.wait()
            raise AssertionError(f"the sample nodes did not start:\n{self.process.log}")
        self.said = json.loads(line)
        Nodes.all.add(self)

    @property
    def discovery(self):
        return self.said["discovery"]

    @property
    def names(self):
        return [node["name"] for node in self.said["nodes"]]

    @property
    def t0(self):
        return self.said["t0"]

    def address(self, name):
        return self.control(stats=None)["stats"][name]["address"]

    def list_also(self, address):
        """Adds an entry to the discovery file."""
        listed = yaml.safe_load(pathlib.Path(self.discovery).read_text())
        listed["nodes"].append({"name": address, "grpc_address": address})
        files.replace(self.discovery, yaml.safe_dump(listed))

    def control(self, **commands):
        """Runs control commands in their order (tests/datanode/control.py); their results by name."""
        request = urllib.request.Request(self.said["control"], json.dumps(commands).encode())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as why:
            raise AssertionError(f"the sample nodes refuse {list(commands)}: {why.read().decode()}") from None

    def fault(self, node, **fields):
        """This node misbehaves from now on; without fields it stops misbehaving. "*" means all."""
        self.control(fault={node: fields or None})

    def put_schema(self, kind, group, name, source, nodes=None, now=None):
        """Stores a text as a schema object on all nodes or some, whatever it is."""
        now = now or time.time_ns()
        stored = message("property.v1.Property", {"id": f"{kind}_{group}/{name}"})
        stored.metadata.group, stored.metadata.name, stored.metadata.mod_revision = "_schema", kind, now
        set_nanoseconds(stored.updated_at, now)
        for key, value in {"group": group, "name": name, "source": source, "kind": kind, "updated_at": now}.items():
            stored.tags.add(key=key).value.CopyFrom(tag_of(value))
        request = message("schema.v1.InsertSchemaRequest")
        request.property.CopyFrom(stored)
        for node in self.said["nodes"]:
            if nodes and node["name"] not in nodes:
                continue
            with grpc.insecure_channel(node["schema_address"]) as channel:
                try:
                    channel.unary_unary(INSERT)(request.SerializeToString(), timeout=10)
                except grpc.RpcError:
                    pass    # it is stored; that the node cannot read it either is no matter

    def stats(self):
        return self.control(stats=None)["stats"]

    def freeze(self):
        self.frozen = True
        self.process.signal(signal.SIGSTOP)

    def thaw(self):
        self.process.signal(signal.SIGCONT)
        self.frozen, self.thawed_at = False, time.monotonic()

    def kill(self):
        Nodes.all.discard(self)
        self.process.kill()
        self.process.process.stdout.close()

    def stop(self):
        Nodes.all.discard(self)
        self.process.stop()
        self.process.process.stdout.close()
