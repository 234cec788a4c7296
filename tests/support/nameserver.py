# SPDX-License-Identifier: Apache-2.0
"""A name server that knows a few SRV records, for one test."""
import socket
import struct
import threading

SRV, NXDOMAIN, SERVFAIL = 33, 3, 2


def encoded(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.rstrip(".").split(".")) + b"\0"


def question_of(packet):
    """(name, type, where the question ends)"""
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode())
        at += packet[at] + 1
    return ".".join(labels), struct.unpack("!H", packet[at + 1:at + 3])[0], at + 5


class NameServer:
    """records: {name: [(target, port), …]}; a name that is not there does not exist; None: the server fails."""

    def __init__(self, records=()):
        self.records, self.asked = dict(records), []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            packet, sender = self._socket.recvfrom(4096)
            if not packet:
                return
            self._socket.sendto(self._answer(packet), sender)

    def _answer(self, packet):
        name, kind, end = question_of(packet)
        self.asked.append(name)
        found = self.records.get(name, []) if kind == SRV else []
        code = SERVFAIL if found is None else 0 if name in self.records else NXDOMAIN
        records = b"".join(
            b"\xc0\x0c" + struct.pack("!HHIHHHH", SRV, 1, 1, 6 + len(encoded(target)), 10, 10, port) + encoded(target)
            for target, port in found or [])
        head = packet[:2] + struct.pack("!HHHHH", 0x8580 | code, 1, len(found or []), 0, 0)
        return head + packet[12:end] + records

    def close(self):
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()
