# SPDX-License-Identifier: Apache-2.0
"""The two C programs of this folder, as objects that are told commands and asked for events."""
import os
import pathlib
import queue
import re
import subprocess
import threading
import time

import grpc
import pytest

BUILD = pathlib.Path(os.environ.get("BYDB_BUILD", "build-check/gcc")).resolve()
OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Program:
    def __init__(self, name, *args):
        path = BUILD / "tests/integration/http2" / name
        if not path.exists():
            pytest.skip(f"{path} is not built")
        self.process = subprocess.Popen([path, *map(str, args)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, errors="replace")
        self.lines = []
        self.fresh = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            self.fresh.put(line)

    def tell(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def expect(self, pattern, timeout=10, after=0):
        """The match of the first line (from number `after` on) that the pattern matches."""
        deadline = time.monotonic() + timeout
        while True:
            for line in self.lines[after:]:
                match = re.match(pattern, line)
                if match:
                    return match
            assert time.monotonic() < deadline, f"no {pattern!r} among {self.lines[-20:]}"
            assert self.process.poll() is None, f"ended: {self.lines[-20:]}"
            try:
                self.fresh.get(timeout=0.05)
            except queue.Empty:
                pass

    def live(self):
        after = len(self.lines)
        self.tell("live")
        return [int(n) for n in self.expect(r"live (.*)", after=after)[1].split()]

    def wait_idle(self, expected=(0, 0), timeout=10):
        """Waits until so many connections or links, and exchanges or calls are alive."""
        deadline = time.monotonic() + timeout
        while tuple(self.live()[:2]) != tuple(expected):
            assert time.monotonic() < deadline, f"still alive: {self.live()}"
            time.sleep(0.02)

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mib(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def _end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
        status = self.process.wait(20)
        self.reader.join(5)
        assert status == 0, f"exit status {status}: {self.lines[-20:]}"


class Echo(Program):
    def __init__(self, *args):
        super().__init__("http2_echo_server", *args)
        self.port = int(self.expect(r"port (\d+)")[1])
        self.address = f"127.0.0.1:{self.port}"
        self.channels = []

    def channel(self, credentials=None, options=()):
        options = OPTIONS + list(options)
        if credentials is None:
            channel = grpc.insecure_channel(self.address, options=options)
        else:
            channel = grpc.secure_channel(f"localhost:{self.port}", credentials, options=options)
        self.channels.append(channel)
        return channel

    def call(self, method, body, timeout=20, channel=None, **more):
        channel = channel or self.channel()
        return channel.unary_unary(f"/test.Echo/{method}", None, None)(body, timeout=timeout, **more)

    def finish(self):
        for channel in self.channels:
            channel.close()
        self._end()
        assert self.lines[-1] == "end 0", self.lines[-5:]


class Links(Program):
    def __init__(self, *args):
        super().__init__("http2_link_client", *args)
        self.names = iter(range(1, 250))

    def link(self, address, *more):
        name = next(self.names)
        self.tell("link", name, address, *more)
        return name

    def call(self, link, path, *sends, deadline_ms=10000, half=True, metadata=()):
        name = next(self.names)
        self.tell("call", name, link, path, deadline_ms, *metadata)
        for text in sends:
            self.tell(*(("fill", name, text) if isinstance(text, int) else ("send", name, text)))
        if half:
            self.tell("half", name)
        return name

    def end(self, call, timeout=10):
        """(code, text) of a call's end."""
        match = self.expect(rf"end {call} (\S+) \[.*?\] (.*)", timeout)
        return match[1], match[2]

    def finish(self):
        self._end()
        assert self.lines[-1] == "final 0 0 0", self.lines[-5:]
