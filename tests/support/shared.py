# SPDX-License-Identifier: Apache-2.0
"""The folder of specifications, the acceptance suite and recorded exchanges, which not everybody has."""
import os
import pathlib

from proto import ROOT

FOLDER = pathlib.Path(os.environ.get("BYDB_SHARED") or ROOT.parent / "shared")
SUITE = FOLDER / "suite"
RECORDED = FOLDER / "recorded"
HAS_SUITE = (SUITE / "manifest.json").exists()
HAS_RECORDED = (RECORDED / "index.json").exists()
