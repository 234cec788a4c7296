#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what a test runner left behind, for tests/run.sh.

    results.py junit REPORT.xml LOG             pytest's report; LOG is shown when there is none
    results.py meson TESTLOG.json TAPS LOG      meson's log, and the TAP files of Check programs
    results.py lines FILE                       "ok NAME", "not ok NAME", "skip NAME" lines

Prints what failed, in full, and as its last line three numbers: passed, failed, not run.
"""
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

SHOWN_LINES = 80  # of one failure


class Tally:
    def __init__(self):
        self.passed = self.failed = 0
        self.skips = collections.Counter()

    def fail(self, name, text=""):
        self.failed += 1
        print(f"   FAIL {name}")
        lines = text.strip("\n").splitlines()
        if len(lines) > SHOWN_LINES:
            half = SHOWN_LINES // 2
            lines = lines[:half] + [f"... {len(lines) - SHOWN_LINES} lines ..."] + lines[-half:]
        for line in lines:
            print(f"        {line}")

    def skip(self, why):
        self.skips[why] += 1

    def report(self):
        for why, count in sorted(self.skips.items()):
            print(f"   not run: {count} × {why}")
        print(self.passed, self.failed, sum(self.skips.values()))


def read(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def junit(tally, report, log):
    try:
        root = xml.etree.ElementTree.parse(report).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        tally.fail("pytest left no report", read(log))
        return
    cases = list(root.iter("testcase"))
    for case in cases:
        name = f"{case.get('classname')}::{case.get('name')}"
        bad = [entry for entry in case if entry.tag in ("failure", "error")]
        skipped = case.find("skipped")
        if bad:
            tally.fail(name, "\n".join(entry.text or entry.get("message", "") for entry in bad))
        elif skipped is not None:
            tally.skip(skipped.get("message", "no reason given"))
        else:
            tally.passed += 1
    if not cases:
        tally.fail("pytest ran no test", read(log))


def taps(folder):
    """Lines of Check's TAP files by program name."""
    found = collections.defaultdict(list)
    for path in sorted(pathlib.Path(folder).glob("*.tap")):
        program = path.name.rsplit(".", 2)[0]
        found[program] += [line for line in read(path).splitlines()
                           if re.match(r"(not )?ok \d+", line)]
    return found


def program_of(entry):
    """The program behind a line of meson's log: the wrapper and its like come first."""
    command = [pathlib.PurePath(word).name for word in entry["command"]]
    return next((word for word in command if word != "tap.sh"), "")


def meson(tally, testlog, tap_folder, log):
    text = read(testlog)
    entries = [json.loads(line) for line in text.splitlines()]
    cases = taps(tap_folder)
    if not entries:
        tally.fail("meson ran no test", read(log))
    counted = set()    # a program that runs twice has left the lines of both runs
    for entry in entries:
        program = program_of(entry)
        lines = [] if program in counted else cases.get(program, [])
        bad = [line for line in lines if line.startswith("not ok")]
        said = entry.get("stdout", "") + entry.get("stderr", "")
        result = entry["result"]
        tally.passed += len(lines) - len(bad)
        for line in bad:
            tally.fail(f"{entry['name']}: {re.sub(r'^not ok [0-9]+ - ', '', line)}")
        if result == "SKIP":
            tally.skip(entry["name"])
        elif result not in ("OK", "EXPECTEDFAIL"):
            if not bad:
                tally.fail(f"{entry['name']} ({result})", said)
        elif program not in cases:
            tally.passed += 1
        counted.add(program)


def lines(tally, path):
    before = []
    for line in read(path).splitlines():
        if line.startswith("ok "):
            tally.passed += 1
        elif line.startswith("not ok "):
            tally.fail(line[len("not ok "):], "\n".join(before))
        elif line.startswith("skip "):
            tally.skip(line[len("skip "):])
        else:
            before.append(line)
            continue
        before = []
    if before or tally.passed + tally.failed == 0:
        tally.fail(f"{path} ended early", "\n".join(before))


def main(kind, *arguments):
    tally = Tally()
    {"junit": junit, "meson": meson, "lines": lines}[kind](tally, *arguments)
    tally.report()


if __name__ == "__main__":
    main(*sys.argv[1:])
