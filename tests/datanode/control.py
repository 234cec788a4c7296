# SPDX-License-Identifier: Apache-2.0
"""The control port: a test changes the behaviour of running nodes by JSON over HTTP.

POST / takes one object whose keys are the public methods of `Commands` and whose values are their arguments; they
run in the order in which they stand. The answer is an object with the result of each; a mistake is a 400 with a text.
"""
import base64
import http.server
import json
import os
import threading
import time

from clock import from_iso
from faults import Fault
from replay import Replay
from rpc import HOST
from suite import point, schema_order
from synthetic import Synthetic, shape_of
from timeline import Timeline


def replace(path, text):
    """By rename: whoever reads the file sees the old text or the new one."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


class Commands:
    """Wherever a command takes nodes, a list of names is meant; `{"d1": ...}` gives each node its own argument."""

    def __init__(self, cluster, discovery_path):
        self._cluster, self._path = cluster, discovery_path

    def _each(self, arguments):
        """(node, argument) pairs; the name * stands for all nodes."""
        for name, argument in arguments.items():
            for node in self._cluster.nodes.values() if name == "*" else [self._cluster.nodes[name]]:
                yield node, argument

    def fault(self, arguments):
        """{"d1": fault, [fault, ...] or null}: the fields of faults.Fault. Null ends all faults of the node."""
        for node, wanted in self._each(arguments):
            wanted = wanted if isinstance(wanted, list) else [wanted] if wanted else []
            node.faults.set(*(Fault(**fields) for fields in wanted))

    def health(self, arguments):
        """{"d1": "SERVING", "NOT_SERVING", "UNKNOWN" or "HANG"}."""
        for node, state in self._each(arguments):
            node.health.state = state

    def cut(self, names):
        """["d1"]: resets all connections of the cluster port now."""
        return {name: self._cluster.nodes[name].cut() for name in names}

    def cut_schema(self, names):
        """["d1"]: resets all connections of the registry's port."""
        return {name: self._cluster.nodes[name].cut_schema() for name in names}

    def stop(self, names):
        """["d1"]: the node goes down, ports closed, calls ended."""
        for name in names:
            self._cluster.nodes[name].stop()

    def start(self, arguments):
        """{"d1": {"port": "same" (default), "new" or a number, "schema_port": likewise, "created_at": time}}.

        A node that comes up again was created now unless a time says otherwise.
        """
        ports = {"same": None, "new": 0}
        for node, options in self._each(arguments):
            created_at = options.get("created_at")
            node.created_at = from_iso(created_at) if created_at else time.time_ns()
            wanted = (options.get(key, "same") for key in ("port", "schema_port"))
            node.start(*(ports.get(port, port) for port in wanted))
        return {name: node.address for name, node in self._cluster.nodes.items()}

    def node(self, arguments):
        """{"d1": {"labels": {}, "roles": ["DATA"], "announced": "host:port", "created_at": time, ...}}.

        What GetCurrentNode answers; also "frame_version" (3, 4) and "constants" (bool), how frames are written.
        """
        allowed = {"labels", "roles", "announced", "created_at", "frame_version", "constants"}
        for node, options in self._each(arguments):
            for key, value in options.items():
                if key not in allowed:
                    raise ValueError(f"a node has no {key}")
                setattr(node, key, from_iso(value) if key == "created_at" else value)

    def schema(self, changes):
        """[{"action": "insert", "update", "delete" or "repair", "kind": "measure", "object": {...}, "nodes": ["d1"],
        "revision": ns, "created_at": ns}]: a change of the registry, now. Without nodes it reaches all."""
        for change in changes:
            self._cluster.change(change["action"], change["kind"], change["object"],
                                 change.get("revision") or time.time_ns(), change.get("nodes"),
                                 change.get("created_at"))

    def write(self, batches):
        """[{"group": g, "measure": m, "rows": [DataPointValue as JSON], "nodes": ["d1"]}]: one batch of rows each.

        Without nodes they go where the shards lie at this moment; without a version they are the newest.
        """
        for batch in batches:
            view = self._cluster.catalog.measure(batch["group"], batch["measure"])
            self._cluster.write(batch["group"], batch["measure"],
                                [point(row, schema_order(view), list(view.fields)) for row in batch["rows"]],
                                batch.get("nodes"))

    def placement(self, groups):
        """["g"]: where the shards of groups lie now, {"g": [[nodes of shard 0], ...]}."""
        known = self._cluster.catalog.groups()
        return {group: [self._cluster.placement.nodes_of(group, shard)
                        for shard in range(known[group].resource_opts.shard_num)] for group in groups}

    def replay(self, arguments):
        """{"d1": [["group", "base64 of a SendResponse"], ...], "reencode": true} or null to end all replays."""
        arguments = dict(arguments or {})
        reencode = arguments.pop("reencode", False)
        for node in self._cluster.nodes.values():
            recorded = arguments.get(node.name)
            node.replay = None if recorded is None else Replay(
                [(group, base64.b64decode(data)) for group, data in recorded], reencode)

    def synthetic(self, arguments):
        """{"d1": {"name": "w3", "rows": 8192, ...} or null}: a shape, see synthetic.SHAPES. Returns body sizes."""
        numbers = {name: number for number, name in enumerate(self._cluster.nodes)}
        sizes = {}
        for node, options in self._each(arguments):
            node.synthetic = None if options is None else Synthetic(
                shape_of(**options), numbers[node.name], len(numbers), node.frame_version, node.constants)
            sizes[node.name] = node.synthetic.size if node.synthetic else 0
        return sizes

    def timeline(self, arguments):
        """{"d1": {"rows": 1000000, "begin": ns, …} or null}: rows made when they are asked for, see timeline.py."""
        for node, options in self._each(arguments):
            node.timeline = None if options is None else Timeline(**options)

    def discovery(self, names):
        """["d1"]: rewrites the discovery file so that it lists these nodes, with their present addresses."""
        replace(self._path, self._cluster.discovery(names))

    def stats(self, _arguments=None):
        """Counts and requests of each node since the last `clear`."""
        return {name: {**node.log.snapshot(), "running": node.running, "address": node.address,
                       "schema_address": node.schema_address} for name, node in self._cluster.nodes.items()}

    def clear(self, _arguments=None):
        """Forgets counts and requests."""
        for node in self._cluster.nodes.values():
            node.log.clear()


def run(commands, request):
    """The results of the commands in a request object, in order."""
    results = {}
    for name, arguments in request.items():
        command = None if name.startswith("_") else getattr(commands, name, None)
        if command is None:
            raise ValueError(f"no command {name}")
        results[name] = command(arguments)
    return results


class ControlServer:
    """Serves commands in threads of its own, on a port that the kernel chooses."""

    def __init__(self, commands):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                try:
                    body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                    self._answer(200, run(commands, json.loads(body)))
                except Exception as error:      # whatever it is, the test that asked for it must see it
                    self._answer(400, {"error": f"{type(error).__name__}: {error}"})

            def do_GET(self):
                self._answer(200, commands.stats())

            def _answer(self, status, result):
                data = json.dumps(result).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_arguments):
                """Requests are not logged: standard output belongs to the first line."""

        self._server = http.server.ThreadingHTTPServer((HOST, 0), Handler)
        self.port = self._server.server_address[1]

    def start(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
