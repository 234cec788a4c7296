# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import programs  # noqa: E402


@pytest.fixture
def echo():
    """Starts echo servers; each must end with nothing left alive."""
    started = []

    def start(*args):
        started.append(programs.Echo(*args))
        return started[-1]

    yield start
    for server in started:
        server.finish()


@pytest.fixture
def links():
    """Starts link clients; each must end with nothing left alive."""
    started = []

    def start(*args):
        started.append(programs.Links(*args))
        return started[-1]

    yield start
    for client in started:
        client.finish()
