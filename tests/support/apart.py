# SPDX-License-Identifier: Apache-2.0
"""Sample nodes that are a process each, to be frozen, killed and started anew one by one."""
import datetime
import pathlib
import tempfile

import yaml

import files
from nodes import Nodes


class Apart:
    """Apart("--demo", "--nodes", 3): all have the same rows to deal out, as they have the same T0."""

    def __init__(self, *options):
        self._folder = tempfile.TemporaryDirectory(prefix="bydb-apart-")
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._options = [*map(str, options), "--t0", now]
        count = int(self._options[self._options.index("--nodes") + 1])
        self.names = [f"d{number}" for number in range(1, count + 1)]
        self.discovery = str(pathlib.Path(self._folder.name) / "nodes.yaml")
        self.nodes = {}
        try:
            for name in self.names:
                self.start(name)
            self.list()
        except BaseException:
            self.stop()
            raise

    def start(self, name):
        """On ports that the kernel chooses. Nobody knows them before `list`."""
        self.nodes[name] = Nodes(*self._options, "--only", name)

    def address(self, name):
        return self.nodes[name].said["nodes"][0]["address"]

    def list(self, names=None, more=()):
        """Rewrites the discovery file; `more`: addresses of whatever else."""
        listed = [{"name": name, "grpc_address": self.address(name)} for name in names or self.names]
        listed += [{"name": address, "grpc_address": address} for address in more]
        files.replace(self.discovery, yaml.safe_dump({"nodes": listed}))

    def freeze(self, name):
        self.nodes[name].freeze()

    def thaw(self, name):
        self.nodes[name].thaw()

    def kill(self, name):
        self.nodes.pop(name).kill()

    def stop(self):
        for name, node in list(self.nodes.items()):
            self.thaw(name)
            node.stop()
        self._folder.cleanup()
