# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 clients that open their windows as slowly as one likes; a thousand of them on one thread."""
import selectors
import socket
import struct
import time

import hpack

from client import QUERY

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, WINDOW = 0, 1, 3, 4, 6, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class Reader:
    """Asks once. `status` is grpc's (None while it reads), `reset` HTTP/2's code, `taken` the bytes so far."""

    def __init__(self, port, request, window=65535, path=QUERY, timeout=None):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.decoder = hpack.Decoder()
        self.buffer = b""
        self.status, self.text, self.reset, self.taken, self.closed = None, "", None, 0, False
        self.metadata = {}
        fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "x"),
                  ("te", "trailers"), ("content-type", "application/grpc")]
        fields += [("grpc-timeout", timeout)] if timeout else []
        body = b"\x00" + len(request).to_bytes(4, "big") + request
        self.socket.sendall(PREFACE + frame(SETTINGS, payload=struct.pack(">HI", 4, window)) +
                            frame(HEADERS, END_HEADERS, 1, hpack.Encoder().encode(fields)) +
                            frame(DATA, END_STREAM, 1, body))
        self.socket.setblocking(False)

    @property
    def ended(self):
        return self.closed or self.status is not None or self.reset is not None

    def open_window(self, more):
        update = struct.pack(">I", more)
        try:
            self.socket.send(frame(WINDOW, 0, 1, update) + frame(WINDOW, 0, 0, update))
        except OSError:
            self.closed = True

    def read(self):
        try:
            portion = self.socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            portion = b""
        self.closed = not portion
        self.buffer += portion
        at = 0
        while len(self.buffer) - at >= 9:
            size = int.from_bytes(self.buffer[at:at + 3], "big")
            if len(self.buffer) - at < 9 + size:
                break
            self._take(self.buffer[at + 3], self.buffer[at + 4], self.buffer[at + 9:at + 9 + size])
            at += 9 + size
        self.buffer = self.buffer[at:]

    def _take(self, kind, flags, payload):
        if kind == DATA:
            self.taken += len(payload)
        elif kind == RST:
            self.reset = int.from_bytes(payload, "big")
        elif kind == HEADERS:
            fields = dict(self.decoder.decode(payload))
            self.metadata.update(fields)
            if "grpc-status" in fields:
                self.status, self.text = int(fields["grpc-status"]), fields.get("grpc-message", "")
        elif kind in (SETTINGS, PING) and not flags & ACK:
            self.socket.send(frame(kind, ACK, 0, payload if kind == PING else b""))

    def close(self):
        self.socket.close()


class Crowd:
    """Readers that are served by `serve` alone, none of them blocks."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.readers = []

    def add(self, reader):
        self.readers.append(reader)
        self.selector.register(reader.socket, selectors.EVENT_READ, reader)
        return reader

    def serve(self, seconds):
        """Reads what comes for so long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                key.data.read()
                if key.data.closed:
                    self.selector.unregister(key.data.socket)

    def open_windows(self, more):
        for reader in self.readers:
            if not reader.ended:
                reader.open_window(more)

    def ended(self):
        return [reader for reader in self.readers if reader.ended]

    def close(self):
        for reader in self.readers:
            reader.close()
        self.selector.close()
