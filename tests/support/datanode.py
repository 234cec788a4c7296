# SPDX-License-Identifier: Apache-2.0
"""Parts of the sample nodes that tests borrow: their frame codec, and what the demo writes.

Their folder stands at the end of the search path, so that modules of the same name there do not get in
the way of ours.
"""
import sys

from proto import ROOT

sys.path.append(str(ROOT / "tests" / "datanode"))

import demo    # noqa: E402
import frame   # noqa: E402
import frame3  # noqa: E402
import frame4  # noqa: E402

__all__ = ["demo", "frame", "frame3", "frame4"]
