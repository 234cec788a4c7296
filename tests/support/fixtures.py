# SPDX-License-Identifier: Apache-2.0
"""Pytest fixtures and hooks for tests that run the real program; conftest.py files import them."""
import contextlib
import signal

import pytest

from liaison import Liaison, binary
from nodes import Nodes

SECONDS_PER_TEST = 120

# The sample nodes are one process: when a busy machine lets it wait for two seconds, all of them are silent, as dead
# ones are. Tests that want silence to be noticed ask for probes. That a connection ends is noticed in any case.
CALM = ["--data-client-health-check-interval=1h"]


@contextlib.contextmanager
def running(node_options, liaison_options=(), before=None, ready=None, ends=False, **more):
    """(nodes, liaison), ready to be asked. At the end nothing may be alive and both must end well.

    `before(nodes)` is called before the liaison starts; `ready` names the nodes to wait for, if not all;
    with `ends` the liaison is ended by the test itself.
    """
    nodes = Nodes(*map(str, node_options))
    try:
        if before:
            before(nodes)
        with serving(nodes, liaison_options, ready, ends, **more) as liaison:
            yield nodes, liaison
    finally:
        nodes.stop()


@contextlib.contextmanager
def serving(nodes, liaison_options=(), ready=None, ends=False, **more):
    """A liaison before nodes that run already; as in `running`."""
    liaison = Liaison(nodes.discovery, *CALM, *liaison_options, **more)
    try:
        liaison.wait_ready(nodes.names if ready is None else ready)
        yield liaison
    except BaseException:
        liaison.kill()
        raise
    if not ends:
        liaison.expect_nothing_alive()
    liaison.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """A test that hangs fails; `@pytest.mark.seconds(n)` allows it more time."""
    marker = item.get_closest_marker("seconds")
    seconds = marker.args[0] if marker else SECONDS_PER_TEST

    def too_long(*_):
        raise TimeoutError(f"the test took longer than {seconds} s")
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pytest_configure(config):
    config.addinivalue_line("markers", "seconds(n): how long the test may take")
    config.addinivalue_line("markers", "sanitize: also run on the build with sanitizers")


def require_binary():
    if not binary().exists():
        pytest.fail(f"{binary()} is not there: build it, or set BYDB_LIAISON")


class Cluster:
    """Sample nodes with the demo data, the liaison before them, and a client."""

    def __init__(self, nodes, liaison):
        self.nodes, self.liaison, self.client = nodes, liaison, liaison.client()
