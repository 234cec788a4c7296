#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Functions stay short: over 60 lines is a fault. Files over 400 lines are listed as a question.

    size.py [ROOT]    prints faults as file:line: text; exit 1 if there is one

Lines are counted from a function's name to its closing brace. Universal Ctags finds both.
"""
import json
import pathlib
import subprocess
import sys

FLOORS = ("frame", "merge", "proto", "liaison")
FUNCTION_LINES = 60
FILE_LINES = 400


def sources(root):
    return sorted(path for floor in FLOORS for path in (root / floor).rglob("*.[ch]"))


def functions(files):
    """(file, name, first line, last line) of each function."""
    command = ["ctags", "--output-format=json", "--languages=C", "--map-C=+.h", "--kinds-C=f",
               "--fields=+ne", "-L", "-", "-f", "-"]
    listing = "\n".join(map(str, files))
    tags = subprocess.run(command, input=listing, capture_output=True, text=True, check=True)
    for line in tags.stdout.splitlines():
        tag = json.loads(line)
        if tag.get("_type") == "tag" and "end" in tag:
            yield tag["path"], tag["name"], tag["line"], tag["end"]


def main(root):
    files = sources(root)
    faults = 0
    for path, name, first, last in functions(files) if files else ():
        lines = last - first + 1
        if lines > FUNCTION_LINES:
            faults += 1
            print(f"{pathlib.Path(path).relative_to(root)}:{first}: {name} has {lines} lines, "
                  f"at most {FUNCTION_LINES} are allowed")
    for path in files:
        lines = len(path.read_text().splitlines())
        if lines > FILE_LINES:
            print(f"note: {path.relative_to(root)} has {lines} lines: is it one noun?")
    return 1 if faults else 0


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default))
