# SPDX-License-Identifier: Apache-2.0
"""Memory of a running program, in bytes."""
import pathlib


def _sizes(pid, file):
    """{name: bytes} of the lines "Name:   n kB"."""
    lines = pathlib.Path(f"/proc/{pid}/{file}").read_text(encoding="ascii").splitlines()
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in map(str.split, lines)
            if len(words) == 3 and words[2] == "kB"}


def resident(pid):
    """Counted page by page; the kernel's quick figure (VmRSS) may be wrong by hundreds of pages."""
    return _sizes(pid, "smaps_rollup")["Rss"]


def own(pid):
    """The resident part that no file lies behind."""
    return _sizes(pid, "smaps_rollup")["Anonymous"]


def peak(pid):
    """The most that was resident since the beginning, or since `forget_peak`."""
    return _sizes(pid, "status")["VmHWM"]


def forget_peak(pid):
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
