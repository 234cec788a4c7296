# SPDX-License-Identifier: Apache-2.0
"""A data node of which several generations can share a port, with TLS or without."""
import concurrent.futures
import threading

import grpc

from proto import message


class Generation(grpc.GenericRpcHandler):
    """A data node in a few lines; several can share a port, and `leave` says goodbye with GOAWAY.

    Queries of the group "slow" are answered when `go` is set.
    """

    def __init__(self, name, port=0, credentials=None, labels=None, streams=1000):
        self.name, self.asked, self.answered, self.labels = name, 0, 0, labels or {}
        self.go = threading.Event()
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(32), handlers=[self],
                                  options=[("grpc.so_reuseport", 1), ("grpc.max_concurrent_streams", streams)])
        address = f"127.0.0.1:{port}"
        self.port = (self.server.add_secure_port(address, credentials) if credentials
                     else self.server.add_insecure_port(address))
        self.server.start()

    def service(self, details):
        method = details.method.rsplit("/", 1)[1]
        if method == "Send":
            return grpc.stream_stream_rpc_method_handler(self.send)
        if method == "WatchSchemas":
            return grpc.stream_stream_rpc_method_handler(self.watch)
        if method == "ListSchemas":
            return grpc.unary_stream_rpc_method_handler(lambda request, context: iter(()))
        return grpc.unary_unary_rpc_method_handler({"Check": self.check, "GetCurrentNode": self.node}[method])

    def check(self, _request, _context):
        return message("grpc.health.v1.HealthCheckResponse", {"status": "SERVING"}).SerializeToString()

    def node(self, _request, _context):
        address = f"127.0.0.1:{self.port}"
        return message("database.v1.GetCurrentNodeResponse", {"node": {
            "metadata": {"name": "d1"}, "roles": ["ROLE_META", "ROLE_DATA"], "grpcAddress": address,
            "propertySchemaGrpcAddress": address, "labels": self.labels}}).SerializeToString()

    def watch(self, requests, _context):
        for _ in requests:
            yield message("schema.v1.WatchSchemasResponse",
                          {"eventType": "SCHEMA_EVENT_TYPE_REPLAY_DONE"}).SerializeToString()

    def send(self, requests, _context):
        for request in requests:
            asked = message("cluster.v1.SendRequest")
            asked.ParseFromString(request)
            self.asked += 1
            if asked.group == "slow":
                self.go.wait(30)
            self.answered += 1
            yield message("cluster.v1.SendResponse", {"error": f"from {self.name}"}).SerializeToString()

    def leave(self):
        return self.server.stop(10)

    def stop(self):
        self.server.stop(0).wait()
