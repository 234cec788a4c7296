# SPDX-License-Identifier: Apache-2.0
"""The gRPC face of a registry: listing, changing and watching schema objects."""
import threading

import grpc

from messages import nanoseconds, schema
from registry import AlreadyExists, InvalidRequest
from rpc import services

PAGE = 100      # properties in one message of a list


class SchemaServer:
    def __init__(self, registry):
        self._registry = registry

    def handlers(self):
        return services({
            "banyandb.schema.v1.SchemaManagementService": {
                "ListSchemas": ("unary_stream", self.list_schemas, schema.ListSchemasRequest),
                "InsertSchema": ("unary_unary", self.insert, schema.InsertSchemaRequest),
                "UpdateSchema": ("unary_unary", self.update, schema.UpdateSchemaRequest),
                "DeleteSchema": ("unary_unary", self.delete, schema.DeleteSchemaRequest),
                "RepairSchema": ("unary_unary", self.repair, schema.RepairSchemaRequest),
            },
            "banyandb.schema.v1.SchemaUpdateService": {
                "WatchSchemas": ("stream_stream", self.watch, schema.WatchSchemasRequest),
            },
        })

    def list_schemas(self, request, _context):
        found = self._registry.list(request.query)
        for start in range(0, len(found), PAGE):
            page = found[start:start + PAGE]
            yield schema.ListSchemasResponse(properties=[document.property for document in page],
                                             delete_times=[document.delete_time for document in page])

    def insert(self, request, context):
        self._change(context, self._registry.insert, request.property)
        return schema.InsertSchemaResponse()

    def update(self, request, context):
        self._change(context, self._registry.update, request.property)
        return schema.UpdateSchemaResponse()

    def repair(self, request, context):
        self._change(context, self._registry.repair, request.property, request.delete_time)
        return schema.RepairSchemaResponse()

    def delete(self, request, _context):
        asked = request.delete
        return schema.DeleteSchemaResponse(
            found=self._registry.delete(asked.name, asked.id, nanoseconds(request.update_at)))

    def watch(self, requests, context):
        """Answers each request with a replay and pushes live events; ends when the client half-closes."""
        watcher = self._registry.watch()
        context.add_callback(lambda: self._registry.unwatch(watcher))
        threading.Thread(target=self._serve_replays, args=(requests, watcher), daemon=True).start()
        yield from watcher.events()

    def _serve_replays(self, requests, watcher):
        try:
            for request in requests:
                self._registry.replay(watcher, request)
        except grpc.RpcError:
            pass        # the client went away; the callback of the call has closed the watcher
        self._registry.unwatch(watcher)

    @staticmethod
    def _change(context, change, *arguments):
        try:
            change(*arguments)
        except AlreadyExists as error:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, str(error))
        except InvalidRequest as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"invalid request: {error}")
