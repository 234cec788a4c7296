# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from fixtures import pytest_configure, pytest_runtest_protocol  # noqa: E402, F401  hooks of this folder
