#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Formats of log lines: a message, and behind "; " fields as key=value or key:json (liaison/log.h).

    log_formats.py [ROOT]

The program takes a format apart when it writes the line: a malformed one would end it where nobody looked.
Prints what is wrong as FILE:LINE: …; exit 1 if there is any.
"""
import pathlib
import re
import sys

CALL = re.compile(r'\blog_(?:trace|debug|info|warn|error)\(\s*[^,"()]+(?:\([^()]*\))?,\s*[^,"]+,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
FIELD = re.compile(r"[a-z][a-z0-9_]*[=:]\S+")


def formats(text):
    for call in CALL.finditer(text):
        literal = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call.group(1)))
        yield text.count("\n", 0, call.start()) + 1, literal


def faults(literal):
    message, _, fields = literal.partition("; ")
    if not message:
        yield "there is no message"
    for field in fields.split(" ") if fields else ():
        if not FIELD.fullmatch(field):
            yield f"{field!r} behind the first '; ' is no field (key=%s)"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    found, seen = 0, 0
    for path in sorted(root.glob("liaison/**/*.c")):
        for line, literal in formats(path.read_text()):
            seen += 1
            for fault in faults(literal):
                print(f"{path.relative_to(root)}:{line}: {fault}: {literal!r}")
                found += 1
    if seen == 0:
        print("no log line was found: has the form of the calls changed?")
    return 1 if found or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
