# SPDX-License-Identifier: Apache-2.0
"""A data node whose answers to queries a test writes as bytes; all else is answered by the sample node behind it."""
import collections
import socket
import struct
import threading

import grpc

from client import NO_LIMIT
from fake import Peer
from raw import ACK, DATA, HEADERS, PING, RST, WINDOW, frame, message

SEND = "/banyandb.cluster.v1.Service/Send"
PREFIX = 5              # bytes before each message: a flag and the length
LARGEST = 16_384        # payload of a frame


class Answer:
    """What one call gets, written in steps. Tests send less than the first window holds."""

    def __init__(self, peer, stream):
        self.peer, self.stream = peer, stream

    def begin(self):
        self.peer.send(self.peer.begin(self.stream))

    def data(self, data, size=LARGEST):
        """In frames of so many bytes."""
        for at in range(0, len(data), size):
            self.peer.send(frame(DATA, 0, self.stream, data[at:at + size]))

    def end(self, status=0, text=""):
        self.peer.send(self.peer.trailers(self.stream, status, text))

    def reset(self, code):
        self.peer.send(frame(RST, 0, self.stream, struct.pack(">I", code)))

    def close(self):
        """The end of the connection, and of all that is on it."""
        self.peer.socket.shutdown(socket.SHUT_RDWR)

    def whole(self, response):
        self.begin()
        self.data(message(response))
        self.end()


class RawNode:
    """`address` leads to the sample node at `target`. While `write(answer, response)` is set, it writes the answers
    to queries: `response` is what the sample node said, as bytes."""

    def __init__(self, target):
        self.write = Answer.whole
        self._channel = grpc.insecure_channel(target, NO_LIMIT)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._channel.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(Peer(connection),), daemon=True).start()

    def _serve(self, peer):
        peer.socket.settimeout(None)
        try:
            peer.greet()
            self._calls(peer)
        except (EOFError, OSError):
            pass    # the other side has gone, or the test ended the connection
        finally:
            peer.socket.close()

    def _calls(self, peer):
        paths, bodies = {}, collections.defaultdict(bytes)
        while True:
            kind, flags, stream, payload = peer.wait_for(HEADERS, DATA, PING)
            if kind == PING and not flags & ACK:
                peer.send(frame(PING, ACK, 0, payload))
            elif kind == HEADERS:
                paths[stream] = payload[":path"]
            elif kind == DATA and payload:
                peer.send(frame(WINDOW, 0, 0, struct.pack(">I", len(payload))))
                bodies[stream] += payload
                if is_whole(bodies[stream]):
                    self._answer(Answer(peer, stream), paths.pop(stream), bodies.pop(stream)[PREFIX:])

    def _answer(self, answer, path, request):
        try:
            if path == SEND:
                calls = self._channel.stream_stream(path)(iter([request]), timeout=30)
                self.write(answer, next(calls))
                calls.cancel()
            else:
                answer.whole(self._channel.unary_unary(path)(request, timeout=5))
        except grpc.RpcError as why:
            answer.end(why.code().value[0], why.details())


def is_whole(body):
    return len(body) >= PREFIX and len(body) >= PREFIX + int.from_bytes(body[1:PREFIX], "big")
