# SPDX-License-Identifier: Apache-2.0
"""The real program before sample nodes. After each test the nodes behave again and nothing may be alive."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from fixtures import Cluster, pytest_configure, pytest_runtest_protocol, require_binary, running  # noqa: E402, F401


@pytest.fixture(scope="module")
def shared_cluster():
    require_binary()
    with running(["--demo", "--nodes", 3]) as (nodes, liaison):
        yield Cluster(nodes, liaison)


@pytest.fixture
def cluster(shared_cluster):
    """Three nodes that all tests of a file share."""
    yield shared_cluster
    shared_cluster.nodes.control(fault={"*": None}, synthetic={"*": None}, health={"*": "SERVING"}, clear=None)
    shared_cluster.liaison.wait_ready(shared_cluster.nodes.names)
    shared_cluster.liaison.expect_nothing_alive()


@pytest.fixture
def start():
    """start(node options, liaison options) → a cluster of the test's own."""
    require_binary()
    contexts = []

    def begin(node_options=("--demo", "--nodes", 2), liaison_options=(), **more):
        context = running(node_options, liaison_options, **more)
        found = Cluster(*context.__enter__())
        contexts.append((context, found))
        return found
    yield begin
    for context, found in reversed(contexts):
        found.client.close()
        context.__exit__(None, None, None)
