# SPDX-License-Identifier: Apache-2.0
"""A program that a test starts: its output in a file, gone with the test whatever happens."""
import pathlib
import signal
import subprocess
import tempfile
import time

# The kernel ends the program when the test's process goes. (Python code between fork and exec, the other
# way to ask for that, may hang for ever in a process in which gRPC runs threads.)
END_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]


def wait_until(condition, timeout=10, what="the condition", step=0.01):
    """Returns what `condition` returns as soon as it is true; AssertionError when it never is."""
    deadline = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s in vain for {what}")
        time.sleep(step)
        step = min(step * 1.5, 0.2)


class Process:
    """Standard output is a pipe when `piped`; standard error goes to a file of its own."""

    def __init__(self, command, env=None, piped=False):
        self.command = [str(word) for word in command]
        self._log = tempfile.NamedTemporaryFile(prefix="bydb-test-", suffix=".log")
        self.process = subprocess.Popen(END_WITH_PARENT + self.command, env=env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE if piped else self._log, stderr=self._log)

    @property
    def pid(self):
        return self.process.pid

    @property
    def log(self):
        return pathlib.Path(self._log.name).read_text(errors="replace")

    @property
    def log_lines(self):
        """Those that are written to their end: of the last one a part may be there."""
        return self.log.split("\n")[:-1]

    def running(self):
        return self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=20):
        """The exit status; negative = ended by that signal."""
        return self.process.wait(timeout)

    def stop(self, timeout=20):
        """SIGTERM, and SIGKILL when that does not help. The exit status."""
        if self.running():
            self.signal(signal.SIGTERM)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.process.returncode

    def kill(self):
        self.process.kill()
        self.process.wait()

    def expect_running(self):
        if not self.running():
            raise AssertionError(f"{self.command[0]} ended with {self.process.returncode}:\n{self.log[-4000:]}")
