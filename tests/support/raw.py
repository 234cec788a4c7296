# SPDX-License-Identifier: Apache-2.0
"""An HTTP/2 client that does what well-behaved ones do not: frames are written by hand, h2 only
compresses headers and reads answers."""
import socket
import struct
import time

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def message(body, flag=0, declared=None):
    return struct.pack(">BI", flag, len(body) if declared is None else declared) + body


class Answer:
    """What came back on one stream."""

    def __init__(self):
        self.headers = {}
        self.body = bytearray()
        self.reset = None
        self.ended = False

    @property
    def status(self):
        return int(self.headers["grpc-status"]) if "grpc-status" in self.headers else None

    @property
    def text(self):
        return self.headers.get("grpc-message", "")


class Raw:
    """Connected on creation; `greet` sends the preface and SETTINGS."""

    def __init__(self, port, greet=True, settings=(), receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.socket.settimeout(10)
        self.encoder = hpack.Encoder()
        self.decoder = hpack.Decoder()
        self.buffer = b""
        self.answers = {}
        self.settings = {}
        self.goaways = []
        self.pongs = 0
        self.settings_acks = 0
        self.closed = False
        self.greeted = greet
        self.updates = {}
        if greet:
            payload = b"".join(struct.pack(">HI", key, value) for key, value in settings)
            self.send(PREFACE, frame(SETTINGS, 0, 0, payload))

    def send(self, *parts):
        self.socket.sendall(b"".join(parts))

    def head(self, stream, path="/test.Echo/Unary", end=False, method="POST", drop=(), **fields):
        """A HEADERS frame; keywords replace fields, with _ for -."""
        values = {":method": method, ":scheme": "http", ":path": path, ":authority": "test",
                  "te": "trailers", "content-type": "application/grpc"}
        values.update({name.replace("_", "-"): value for name, value in fields.items()})
        block = self.encoder.encode([(k, v) for k, v in values.items() if k not in drop])
        return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block)

    def request(self, stream, body, path="/test.Echo/Unary", end=True, **fields):
        self.send(self.head(stream, path, **fields),
                  frame(DATA, END_STREAM if end else 0, stream, body))

    def answer(self, stream):
        return self.answers.setdefault(stream, Answer())

    def _take(self, kind, flags, stream, payload):
        answer = self.answer(stream)
        if kind == DATA:
            answer.body += payload
        elif kind == HEADERS:
            answer.headers.update(dict(self.decoder.decode(payload)))
        elif kind == RST:
            answer.reset = struct.unpack(">I", payload)[0]
        elif kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload), 6):
                key, value = struct.unpack_from(">HI", payload, at)
                self.settings[key] = value
            self._acknowledge()
        elif kind == SETTINGS:
            self.settings_acks += 1
        elif kind == PING and flags & ACK:
            self.pongs += 1
        elif kind == GOAWAY:
            last, code = struct.unpack_from(">II", payload)
            self.goaways.append((last, code, payload[8:]))
        elif kind == WINDOW:
            self.updates[stream] = self.updates.get(stream, 0) + struct.unpack(">I", payload)[0]
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            answer.ended = True

    def _acknowledge(self):
        if self.greeted:
            try:
                self.send(frame(SETTINGS, ACK))
            except OSError:
                pass  # reading finds the end

    def read(self):
        """Takes one portion of bytes; False at the end of the connection."""
        try:
            portion = self.socket.recv(1 << 16)
        except (ConnectionResetError, BrokenPipeError):
            portion = b""
        if not portion:
            self.closed = True
            return False
        self.buffer += portion
        at = 0
        while len(self.buffer) - at >= 9:
            size = int.from_bytes(self.buffer[at:at + 3], "big")
            if len(self.buffer) - at < 9 + size:
                break
            kind, flags = self.buffer[at + 3], self.buffer[at + 4]
            stream = int.from_bytes(self.buffer[at + 5:at + 9], "big")
            self._take(kind, flags, stream, self.buffer[at + 9:at + 9 + size])
            at += 9 + size
        self.buffer = self.buffer[at:]
        return True

    def read_until(self, condition, timeout=10):
        deadline = time.monotonic() + timeout
        while not condition():
            left = deadline - time.monotonic()
            assert left > 0, "in vain"
            self.socket.settimeout(left)
            if not self.read():
                break
        assert condition(), "closed before"

    def finished(self, stream, timeout=10):
        """The answer on this stream once it has ended or was reset."""
        self.read_until(lambda: self.answer(stream).ended or self.answer(stream).reset is not None,
                        timeout)
        return self.answer(stream)

    def read_to_close(self, timeout=10):
        deadline = time.monotonic() + timeout
        while not self.closed:
            self.socket.settimeout(max(0.01, deadline - time.monotonic()))
            self.read()

    def close(self):
        self.socket.close()
