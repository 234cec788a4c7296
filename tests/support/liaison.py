# SPDX-License-Identifier: Apache-2.0
"""The real program: start it on free ports, read its metrics and its log, stop it."""
import json
import os
import pathlib
import re
import tempfile
import urllib.error
import urllib.request
import weakref

from client import Client
from process import Process, wait_until
from proto import ROOT

# Connections to nodes live as long as their nodes do, and so do their buffers.
LASTING = {"bydb_live_links", "bydb_live_wire_buffers"}
_LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def binary():
    """BYDB_LIAISON, else what deploy/demo.sh builds."""
    return pathlib.Path(os.environ.get("BYDB_LIAISON", ROOT / "build" / "liaison" / "bydb-liaison"))


class Liaison:
    all = weakref.WeakSet()     # that run

    def __init__(self, discovery, *options, env=None, executors=2):
        self._folder = tempfile.TemporaryDirectory(prefix="bydb-liaison-")
        self._ports_file = pathlib.Path(self._folder.name) / "ports.json"
        self.executors = executors
        command = [binary(), "--node-discovery-mode=file", f"--node-discovery-file-path={discovery}",
                   "--grpc-host=127.0.0.1", "--grpc-port=0", "--observability-listener-addr=127.0.0.1:0",
                   f"--ports-file={self._ports_file}", f"--executors={executors}", *options]
        others = {name: value for name, value in os.environ.items() if not name.startswith("BYDB_")}
        self.process = Process(command, env={**others, "BYDB_POISON_RELEASED": "1", **(env or {})})
        self._ports = None
        Liaison.all.add(self)

    @property
    def is_known(self):
        """Whether somebody has asked for its ports."""
        return self._ports is not None

    # ------------------------------------------------------------- addresses

    @property
    def ports(self):
        if self._ports is None:
            def written():
                self.process.expect_running()
                return self._ports_file.exists()
            wait_until(written, 30, "the ports file")
            self._ports = json.loads(self._ports_file.read_text())
        return self._ports

    @property
    def address(self):
        return f"127.0.0.1:{self.ports['grpc']}"

    def client(self):
        return Client(self.address)

    def get(self, path, timeout=5):
        """(status, text) of the observability port."""
        url = f"http://127.0.0.1:{self.ports['observability']}{path}"
        try:
            with urllib.request.urlopen(url, timeout=timeout) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as why:
            return why.code, why.read().decode()

    # ------------------------------------------------------------- readiness

    def wait_ready(self, nodes=(), timeout=30):
        """Until it can answer queries, and every executor has a connection to each of these nodes."""
        def ready():
            self.process.expect_running()
            return self.get("/healthz")[0] == 200
        wait_until(ready, timeout, f"/healthz; the log says:\n{self.log[-3000:]}")
        for node in nodes:
            self.wait_metric(lambda value: value == self.executors, "bydb_node_up", timeout, node=node)
        return self

    def wait_metric(self, accepted, name, timeout=10, **labels):
        wait_until(lambda: accepted(self.metric(name, **labels)), timeout, f"{name} {labels}")

    # --------------------------------------------------------------- metrics

    def metrics(self):
        """{(name, ((label, value), …)): number}"""
        status, text = self.get("/metrics")
        assert status == 200, text
        found = {}
        for line in text.splitlines():
            match = _LINE.match(line)
            if match:
                labels = tuple(sorted(_LABEL.findall(match[2] or "")))
                found[match[1], labels] = float(match[3])
        return found

    def metric(self, name, **labels):
        """The sum over all series of this name that carry these labels."""
        wanted = set(labels.items())
        return sum(value for (found, held), value in self.metrics().items()
                   if found == name and wanted <= set(held))

    def living(self):
        """The live counts that are not zero though nothing is going on."""
        return {name: value for (name, _), value in self.metrics().items()
                if name.startswith("bydb_live_") and name not in LASTING and value != 0}

    def expect_nothing_alive(self, timeout=10):
        """What a query holds is given back at its end. Figures of other threads come a little later."""
        try:
            wait_until(lambda: not self.living(), timeout)
        except AssertionError:
            raise AssertionError(f"still alive after all queries: {self.living()}") from None

    # ------------------------------------------------------------------- log

    @property
    def log(self):
        return self.process.log

    def log_entries(self):
        """The lines that are JSON, as dicts."""
        entries = []
        for line in self.process.log_lines:
            try:
                entries.append(json.loads(line))
            except ValueError:
                continue
        return entries

    def times_told(self, words, **fields):
        """How many lines have these words in their message, and these fields."""
        return sum(words in entry["message"] and fields.items() <= entry.items() for entry in self.log_entries())

    def wait_log(self, words, timeout=10):
        return wait_until(lambda: next((line for line in self.process.log_lines if words in line), None),
                          timeout, f"a log line with {words!r}; the log says:\n{self.log[-3000:]}")

    # ------------------------------------------------------------------- end

    def stop(self):
        """Ends it as an operator would; whatever a sanitizer found makes the status other than 0."""
        Liaison.all.discard(self)
        status = self.process.stop()
        self._folder.cleanup()
        assert status == 0, f"exit status {status}; the log says:\n{self.log[-6000:]}"

    def kill(self):
        Liaison.all.discard(self)
        if self.process.running():
            self.process.kill()
        self._folder.cleanup()
