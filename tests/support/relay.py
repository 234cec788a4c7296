# SPDX-License-Identifier: Apache-2.0
"""A narrow way to a node: bytes pass at a rate, in order, or not at all for a while."""
import contextlib
import socket
import threading
import time

CHUNK = 16 << 10


class Relay:
    """Relay("127.0.0.1:17912", rate=2_000_000): `address` leads there; what comes back is slow."""

    def __init__(self, target, rate=None):
        host, port = target.rsplit(":", 1)
        self._target, self._rate = (host, int(port)), rate
        self._open = threading.Event()      # bytes pass
        self._open.set()
        self.passed = 0                     # bytes that came back
        self._sockets = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self, seconds=None):
        """Nothing passes either way; connections are still accepted, as by a process that is stopped."""
        self._open.clear()
        if seconds is not None:
            threading.Timer(seconds, self.release).start()

    def release(self):
        self._open.set()

    def stop(self):
        self.release()
        for one in [self._listening, *self._sockets]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass    # it has ended by itself
            one.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
                server = socket.socket()
                self._sockets += [client, server]
                # A small buffer: else what was sent comes long after the rate says so.
                server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * CHUNK)
                server.connect(self._target)
            except OSError:
                return
            threading.Thread(target=self._pump, args=(client, server, None), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, self._rate), daemon=True).start()

    def _pump(self, source, target, rate):
        try:
            while chunk := source.recv(CHUNK):
                self._open.wait()
                target.sendall(chunk)
                if rate:
                    self.passed += len(chunk)
                    time.sleep(len(chunk) / rate)
            target.shutdown(socket.SHUT_WR)
        except OSError:     # one of the two has gone: nobody else would tell the other one
            for one in (source, target):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
