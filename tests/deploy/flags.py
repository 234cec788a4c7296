#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every flag and every BYDB_ variable named in deploy/ and in README.md is one of the program's.

    flags.py [ROOT]    prints faults as file:line: text; exit 1 if there is one

A flag that the program refuses may be named only in a line that says so ("refused at start"), and
such a line may name no other. A value of a flag has to fit its type. Where something is run (not in
*.md) nothing is set that has no effect.
Flags of other programs stand in flags.allow.
"""
import pathlib
import re
import sys

from options import Options

_HERE = pathlib.Path(__file__).resolve().parent
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*[a-z0-9])(?![\w*])(?:=([^\s`'\"|,;)\\]+(?:,[^\s`'\"|;)\\]+)*))?")
_VARIABLE = re.compile(r"\b(BYDB_[A-Z0-9_]*[A-Z0-9])\b(?!\*)(?:(?:=|: )[\"']?([^\s`'\"|;)\\]+))?")
_ENV_VALUE = re.compile(r"^[\s#]*value: [\"']?([^\s\"']+)")
_OPEN = re.compile(r"[A-Z<$…{%]|\.\.\.")  # a value to be filled in


def allowed():
    lines = (_HERE / "flags.allow").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


class Checker:
    def __init__(self, root):
        self.root, self.options, self.allowed, self.faults = root, Options(root), allowed(), 0

    def fault(self, place, text):
        self.faults += 1
        print(f"{place}: {text}")

    def check(self, place, line, name, option, value, runs):
        if option is None:
            plain = name.removeprefix("--")
            if plain not in self.allowed and not (name.startswith("--") and self.options.is_ignored(plain)):
                self.fault(place, f"{name} is no flag of the program (and not in tests/deploy/flags.allow)")
            return
        said = "refused at start" in line
        value = None if value is None or _OPEN.match(value) else value.rstrip(".:")
        why = option.fault_of(value) if value is not None else None
        if said and option.status != "REFUSES" and not why:
            self.fault(place, f"{name} is not refused any more: take the line out")
        elif option.status == "REFUSES" and not said:
            self.fault(place, f"{name} is refused at start, and the line does not say so")
        if value is None or said:
            return
        if why:
            self.fault(place, f"{name}={value}: {why}")
        elif runs and option.status == "WARNS" and value != option.default:
            self.fault(place, f"{name}={value} is not available yet and does nothing")

    def file(self, path):
        lines = path.read_text().splitlines()
        runs = path.suffix != ".md"
        for number, line in enumerate(lines, 1):
            place = f"{path.relative_to(self.root)}:{number}"
            comment = line.lstrip().startswith("#")
            for flag, value in _FLAG.findall(line):
                self.check(place, line, "--" + flag, self.options.by_flag.get(flag), value or None,
                           runs and not comment)
            for variable, value in _VARIABLE.findall(line):
                if not value and number < len(lines) and (found := _ENV_VALUE.match(lines[number])):
                    value = found[1]
                self.check(place, line, variable, self.options.by_variable.get(variable), value or None,
                           runs and not comment)


def main(root):
    checker = Checker(root)
    files = [path for path in sorted((root / "deploy").rglob("*")) if path.is_file()]
    for path in files + [root / "README.md"]:
        checker.file(path)
    return 1 if checker.faults else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else _HERE.parents[1]))
