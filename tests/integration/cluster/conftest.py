# SPDX-License-Identifier: Apache-2.0
"""The control plane and its nodes as a program of their own, before sample nodes."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from nodes import Nodes  # noqa: E402
from watcher import Watcher  # noqa: E402


@pytest.fixture
def nodes():
    """nodes("--nodes", 3) starts sample nodes with the demo data."""
    started = []

    def start(*options):
        started.append(Nodes("--demo", *map(str, options)))
        return started[-1]

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def watch(tmp_path):
    """watch(nodes, *flags) starts a watcher; each must end with nothing left alive."""
    started = []

    def start(discovery, *flags):
        path = discovery if isinstance(discovery, (str, pathlib.Path)) else discovery.discovery
        started.append(Watcher(path, *flags))
        return started[-1]

    yield start
    for watcher in started:
        watcher.finish()
