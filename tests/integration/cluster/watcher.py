# SPDX-License-Identifier: Apache-2.0
"""The program cluster_watch as an object: told commands, asked for what it has printed."""
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

import pytest

from process import wait_until
from proto import ROOT, message

BUILD = pathlib.Path(os.environ.get("BYDB_BUILD", ROOT / "build-check" / "gcc")).resolve()
MEASURE_TOPIC = "v1:internal-measure-query"


class Watcher:
    def __init__(self, discovery, *flags):
        path = BUILD / "tests/integration/cluster/cluster_watch"
        if not path.exists():
            pytest.skip(f"{path} is not built")
        command = [path, "--node-discovery-mode=file", f"--node-discovery-file-path={discovery}",
                   "--node-host-provider=flag", "--node-host=tester", *flags]
        self._log = tempfile.NamedTemporaryFile(prefix="cluster-watch-", suffix=".log")
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self._log, text=True)
        self.events = []
        self._news = threading.Condition()
        self._numbers = iter(range(1, 1 << 30))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._news:
                self.events.append(json.loads(line))
                self._news.notify_all()

    @property
    def log(self):
        return pathlib.Path(self._log.name).read_text(errors="replace")

    def log_lines(self, message_part):
        """Of those that are written to their end: of the last one a part may be there."""
        return [line for line in map(json.loads, self.log.split("\n")[:-1]) if message_part in line["message"]]

    def tell(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    # ------------------------------------------------------------------ events

    def mark(self):
        """A place in the events: what is waited for `after` it has not happened yet."""
        return len(self.events)

    def wait(self, accepted, what="an event", timeout=15, after=0):
        """The first event from place `after` on that is accepted."""
        deadline = time.monotonic() + timeout
        with self._news:
            while True:
                for event in self.events[after:]:
                    if accepted(event):
                        return event
                left = deadline - time.monotonic()
                assert left > 0 and self.process.poll() is None, (
                    f"no {what} among {json.dumps(self.events[-5:], indent=1)}\n{self.log[-3000:]}")
                self._news.wait(min(left, 0.2))

    def world(self, accepted=lambda world: True, what="world", timeout=15, after=0):
        return self.wait(lambda event: "world" in event and accepted(event), what, timeout, after)

    def node(self, name, state, timeout=15, after=0):
        return self.wait(lambda event: event.get("node") == name and event["state"] == state,
                         f"node {name} {state}", timeout, after)

    def wait_log(self, message_part, timeout=15, count=1, accepted=lambda line: True):
        """The lines with these words that are accepted, when there are so many."""
        def found():
            lines = list(filter(accepted, self.log_lines(message_part)))
            return lines if len(lines) >= count else None
        return wait_until(found, timeout, f"{count} lines {message_part!r}; the log says:\n{self.log[-3000:]}")

    def ready(self):
        after = self.mark()
        self.tell(ready=True)
        return self.wait(lambda event: "ready" in event, after=after)

    # ------------------------------------------------------------------- calls

    def send(self, node, group="sw_metric", name="service_cpm_minute", timeout_ms=5000, **more):
        """Asks the node for a measure's rows; the number of the call."""
        number = next(self._numbers)
        body = message("measure.v1.InternalQueryRequest", {"request": {
            "groups": [group], "name": name,
            "timeRange": {"begin": "2020-01-01T00:00:00Z", "end": "2100-01-01T00:00:00Z"},
            "fieldProjection": {"names": ["value"]}}})
        self.tell(send=number, node=node, topic=MEASURE_TOPIC, group=group,
                  body=body.SerializeToString().hex(), timeout_ms=timeout_ms, **more)
        return number

    def answer(self, number, timeout=15):
        return self.wait(lambda event: event.get("answer") == number, f"answer {number}", timeout)

    def ask(self, node, **more):
        return self.answer(self.send(node, **more))

    def live(self):
        after = self.mark()
        self.tell(live=True)
        return self.wait(lambda event: "live" in event, after=after)["live"]

    def wait_idle(self, timeout=10):
        """Until no call is alive and no message is held."""
        deadline = time.monotonic() + timeout
        while True:
            live = self.live()
            if live["node_calls"] == 0 and live["message_bytes"] == 0:
                return live
            assert time.monotonic() < deadline, live
            time.sleep(0.02)

    # --------------------------------------------------------------------- end

    def finish(self):
        self.process.stdin.close()
        status = self.process.wait(20)
        self._reader.join(5)
        assert status == 0, f"exit status {status}:\n{self.log[-6000:]}"
        assert self.events[-1] == {"end": 0, "query": 0, "links": 0, "calls": 0}, self.events[-1]
