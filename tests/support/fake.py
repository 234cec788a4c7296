# SPDX-License-Identifier: Apache-2.0
"""An HTTP/2 server that does what well-behaved ones do not: a script in the test writes its frames."""
import socket
import struct
import threading

import hpack
import raw
from raw import ACK, END_HEADERS, END_STREAM, HEADERS, SETTINGS, frame


class Peer:
    """One accepted connection."""

    def __init__(self, connection):
        self.socket = connection
        self.socket.settimeout(10)
        self.encoder = hpack.Encoder()
        self.decoder = hpack.Decoder()
        self.buffer = b""

    def _exactly(self, size):
        while len(self.buffer) < size:
            portion = self.socket.recv(1 << 16)
            if not portion:
                raise EOFError
            self.buffer += portion
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def send(self, *parts):
        self.socket.sendall(b"".join(parts))

    def greet(self, settings=()):
        assert self._exactly(len(raw.PREFACE)) == raw.PREFACE
        self.send(frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in settings)))

    def next(self):
        """(kind, flags, stream, payload) of the next frame."""
        head = self._exactly(9)
        return head[3], head[4], int.from_bytes(head[5:], "big"), self._exactly(int.from_bytes(head[:3], "big"))

    def wait_for(self, *kinds):
        """The next frame of one of these kinds; SETTINGS are acknowledged, headers are decoded."""
        while True:
            kind, flags, stream, payload = self.next()
            if kind == SETTINGS and not flags & ACK:
                self.send(frame(SETTINGS, ACK))
            if kind == HEADERS:
                payload = dict(self.decoder.decode(payload))
            if kind in kinds:
                return kind, flags, stream, payload

    def head(self, stream, *fields, end=False):
        block = self.encoder.encode(list(fields))
        return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block)

    def begin(self, stream):
        return self.head(stream, (":status", "200"), ("content-type", "application/grpc"))

    def trailers(self, stream, status=0, text=""):
        fields = [("grpc-status", str(status))] + ([("grpc-message", text)] if text else [])
        return self.head(stream, *fields, end=True)


class Fake:
    """Runs `script(peer)` for each connection, one after the other."""

    def __init__(self, script, count=1):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.failure = None
        self.seen = []
        self.thread = threading.Thread(target=self._run, args=(script, count), daemon=True)
        self.thread.start()

    def _run(self, script, count):
        for _ in range(count):
            peer = Peer(self.listener.accept()[0])
            try:
                script(peer)
            except (EOFError, ConnectionError):
                pass
            except Exception as failure:  # shown by join
                self.failure = failure
            peer.socket.close()

    def join(self):
        self.thread.join(10)
        self.listener.close()
        if self.failure:
            raise self.failure
