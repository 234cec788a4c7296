# SPDX-License-Identifier: Apache-2.0
"""Where the acceptance suite and the recorded exchanges are: BYDB_SHARED, else ../shared beside the repository."""
import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def shared():
    default = pathlib.Path(__file__).resolve().parents[3] / "shared"
    folder = pathlib.Path(os.environ.get("BYDB_SHARED", default))
    if not (folder / "suite" / "manifest.json").exists():
        pytest.skip("needs the acceptance suite (BYDB_SHARED)")
    return folder
