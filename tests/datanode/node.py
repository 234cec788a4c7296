# SPDX-License-Identifier: Apache-2.0
"""One data node: a cluster port, a schema port, its rows, its registry and its misbehaviour."""
import messages
from faults import Faults
from health import Health
from messages import common, database
from registry import Registry
from requestlog import RequestLog
from rows import Store
from rpc import HOST, cut_connections, services, start_server
from schemaserver import SchemaServer
from send import QueryChannel

ROLES = {"META": 1, "DATA": 2, "LIAISON": 3}


class Node:
    """Starts nothing by itself; `start` opens the ports, `stop` closes them, both as often as a test likes."""

    def __init__(self, name, catalog, created_at, frame_version, constants, seed, on_schema_change):
        self.name, self.catalog, self.created_at = name, catalog, created_at
        self.frame_version, self.constants = frame_version, constants
        self.labels, self.roles = {}, ["META", "DATA"]
        self.announced = None       # another grpc_address than the real one, to test that it is the one dialled
        self.store, self.registry = Store(), Registry(seed, on_schema_change)
        self.faults, self.log, self.health = Faults(), RequestLog(), Health()
        self.replay = self.synthetic = self.timeline = None
        self.channel = QueryChannel(self)
        self.port = self.schema_port = 0
        self.tls = None     # files of a certificate and its key, read at each start
        self._servers = []

    @property
    def address(self):
        return f"{HOST}:{self.port}"

    @property
    def schema_address(self):
        return f"{HOST}:{self.schema_port}"

    @property
    def running(self):
        return bool(self._servers)

    def start(self, port=None, schema_port=None):
        """Opens both ports: the given ones, else the same as before, else any that is free."""
        cluster, self.port = start_server(self.health.handlers() + self._node_handlers() + self.channel.handlers(),
                                          self.port if port is None else port, self.tls)
        schemas, self.schema_port = start_server(self.health.handlers() + SchemaServer(self.registry).handlers(),
                                                 self.schema_port if schema_port is None else schema_port, self.tls)
        self._servers = [cluster, schemas]

    def stop(self):
        """Closes both ports at once, running calls included."""
        servers, self._servers = self._servers, []
        for ended in [server.stop(0) for server in servers]:
            ended.wait()

    def cut(self):
        """Resets every connection of the cluster port; the port stays open."""
        return cut_connections(self.port)

    def cut_schema(self):
        """The same of the registry's port."""
        return cut_connections(self.schema_port)

    def describe(self):
        """The Node message that discovery asks for."""
        node = database.Node(metadata=common.Metadata(name=self.name), roles=[ROLES[role] for role in self.roles],
                             grpc_address=self.announced or self.address, labels=self.labels,
                             property_schema_grpc_address=self.schema_address)
        messages.set_nanoseconds(node.created_at, self.created_at)
        return node

    def _node_handlers(self):
        return services({"banyandb.database.v1.NodeQueryService": {
            "GetCurrentNode": ("unary_unary", self._current_node, database.GetCurrentNodeRequest)}})

    def _current_node(self, _request, _context):
        return database.GetCurrentNodeResponse(node=self.describe())
