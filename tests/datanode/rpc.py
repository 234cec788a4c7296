# SPDX-License-Identifier: Apache-2.0
"""gRPC plumbing: generic handlers from a table, servers on loopback, and the sockets of a server."""
import os
import pathlib
import socket
import struct
from concurrent import futures

import grpc

HOST = "127.0.0.1"
_WORKERS = 256      # every open stream holds a worker, hanging and watching ones for long
_OPTIONS = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1), ("grpc.so_reuseport", 0)]
_MAKERS = {"unary_unary": grpc.unary_unary_rpc_method_handler, "unary_stream": grpc.unary_stream_rpc_method_handler,
           "stream_stream": grpc.stream_stream_rpc_method_handler}


def _serialized(response):
    return response if isinstance(response, bytes) else response.SerializeToString()


def services(table):
    """Generic handlers of {service: {method: (kind, function, request class)}}. Functions may answer raw bytes."""
    def handler(kind, function, request):
        return _MAKERS[kind](function, request_deserializer=request.FromString, response_serializer=_serialized)

    return [grpc.method_handlers_generic_handler(service, {name: handler(*method) for name, method in methods.items()})
            for service, methods in table.items()]


def start_server(handlers, port=0, tls=None):
    """A running server and the port it listens on; port 0 lets the kernel choose. `tls`: files of certificate, key."""
    server = grpc.server(futures.ThreadPoolExecutor(_WORKERS), options=_OPTIONS)
    server.add_generic_rpc_handlers(handlers)
    if tls:
        certificate, key = (pathlib.Path(file).read_bytes() for file in tls)
        bound = server.add_secure_port(f"{HOST}:{port}", grpc.ssl_server_credentials([(key, certificate)]))
    else:
        bound = server.add_insecure_port(f"{HOST}:{port}")
    if not bound:
        raise OSError(f"port {port} is taken")
    server.start()
    return server, bound


def _own_socket(descriptor):
    """Another handle on an open socket, which the caller closes. OSError when the descriptor is none."""
    copy = os.dup(descriptor)
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)      # the constructor has not taken it
        raise


def cut_connections(port):
    """Resets all established connections of a local port, as a crashed process would leave them."""
    cut = 0
    for entry in os.listdir("/proc/self/fd"):
        try:
            with _own_socket(int(entry)) as connection:
                if connection.getsockname()[1:2] != (port,):
                    continue
                connection.getpeername()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.shutdown(socket.SHUT_RDWR)
                cut += 1
        except OSError:
            continue    # no socket, not connected, or gone in the meantime
    return cut
