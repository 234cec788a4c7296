#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""deploy/README.md quotes the program as it is.

    texts.py [ROOT]    prints faults; exit 1 if there is one

Log lines and errors in the first column of its tables of troubleshooting are texts of the source ("…"
stands for what differs), metrics are those of liaison/metrics.h that are counted, and files that it names are there.
"""
import pathlib
import re
import sys

FLOORS = ("frame", "merge", "proto", "liaison")


def source_texts(root):
    """All string literals, neighbours joined, % conversions as …"""
    found = []
    for floor in FLOORS:
        for path in sorted((root / floor).rglob("*.[ch]")):
            joined = re.sub(r'"\s*\n?\s*"', "", path.read_text())
            for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined):
                text = literal.replace('\\"', '"')
                found.append(re.sub(r"%(?:[-+ #0]*\d*(?:\.\d+|\.\*)?(?:ll|l|z|h)?[a-zA-Z])", "…", text))
    return "\n".join(found)


def counted_metrics(root):
    """The names of those that some source file tells about."""
    sources = "".join(path.read_text() for path in sorted((root / "liaison").rglob("*.c")))
    rows = re.findall(r'X\((METRIC_\w+),\s*(\w+),\s*"(\w+)"', re.sub(r"\\\n\s*", "",
                      (root / "liaison" / "metrics.h").read_text()))
    return {name for constant, kind, name in rows
            if kind == "HELD" or re.search(rf"\b{constant}\b", sources)}  # HELD: asked when it is shown


def quoted(readme):
    """(line number, text) of the quotes in the first column, in the section Troubleshooting."""
    inside = False
    for number, line in enumerate(readme.splitlines(), 1):
        if line.startswith("## "):
            inside = line.startswith("## Troubleshooting")
        if inside and line.startswith("| "):
            for text in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
                yield number, text.replace("\\|", "|")


def main(root):
    readme = (root / "deploy" / "README.md").read_text()
    texts, faults, count = source_texts(root), 0, 0
    metrics = counted_metrics(root)
    for number, text in quoted(readme):
        count += 1
        for piece in filter(lambda one: len(one) > 3, map(str.strip, re.split("…|--", text))):
            if piece not in texts:
                faults += 1
                print(f"deploy/README.md:{number}: not in the source: {piece}")
    if count < 10:
        faults += 1
        print(f"deploy/README.md: {count} quotes in Troubleshooting, more were expected")
    for number, line in enumerate(readme.splitlines(), 1):
        for name in re.findall(r"\b(?:bydb|banyandb)_[a-z_]*[a-z]\b", line):
            if name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") not in metrics:
                faults += 1
                print(f"deploy/README.md:{number}: no such metric, or nobody counts it: {name}")
        for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", line):
            if not (root / "deploy" / target).exists():
                faults += 1
                print(f"deploy/README.md:{number}: no such file: {target}")
    return 1 if faults else 0


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default))
