# SPDX-License-Identifier: Apache-2.0
"""A plain gRPC client of a node, for the tests of this folder."""
import queue

import grpc

from messages import cluster, database, health, measure, schema

_OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1),
            ("grpc.enable_retries", 0)]     # with retries, a stream to a node that went down outlives its deadline


class Client:
    """One connection to one port."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(address, options=_OPTIONS)

    def close(self):
        self.channel.close()

    def _unary(self, path, request, response, **options):
        call = self.channel.unary_unary(path, type(request).SerializeToString, response.FromString)
        return call(request, timeout=options.pop("timeout", 5), **options)

    def check(self, **options):
        return self._unary("/grpc.health.v1.Health/Check", health.HealthCheckRequest(),
                           health.HealthCheckResponse, **options).status

    def current_node(self):
        return self._unary("/banyandb.database.v1.NodeQueryService/GetCurrentNode",
                           database.GetCurrentNodeRequest(), database.GetCurrentNodeResponse).node

    def management(self, method, request, response):
        return self._unary(f"/banyandb.schema.v1.SchemaManagementService/{method}", request, response)

    def list_schemas(self, query):
        call = self.channel.unary_stream("/banyandb.schema.v1.SchemaManagementService/ListSchemas",
                                         schema.ListSchemasRequest.SerializeToString,
                                         schema.ListSchemasResponse.FromString)
        return list(call(schema.ListSchemasRequest(query=query), timeout=5))

    def watch(self):
        """A queue whose items are sent as watch requests (None half-closes), and the call to read events from."""
        requests = queue.SimpleQueue()
        call = self.channel.stream_stream("/banyandb.schema.v1.SchemaUpdateService/WatchSchemas",
                                          schema.WatchSchemasRequest.SerializeToString,
                                          schema.WatchSchemasResponse.FromString)
        return requests, call(iter(requests.get, None), timeout=30)

    def send(self, *requests, timeout=10):
        """All responses of one Send stream that carries these requests."""
        return list(self.stream(*requests, timeout=timeout))

    def stream(self, *requests, timeout=10):
        call = self.channel.stream_stream("/banyandb.cluster.v1.Service/Send", cluster.SendRequest.SerializeToString,
                                          cluster.SendResponse.FromString)
        return call(iter(requests), timeout=timeout)

    def query(self, request, partial=False, timeout=10):
        """The one response to a measure query."""
        body = measure.InternalQueryRequest(request=request, agg_return_partial=partial).SerializeToString()
        return self.send(cluster.SendRequest(topic="v1:internal-measure-query", message_id=7, body=body),
                         timeout=timeout)[0]
