# SPDX-License-Identifier: Apache-2.0
"""The flags of the program as liaison/options/options_table.h lists them, and whether a value fits."""
import dataclasses
import re

_ROW = re.compile(r'^OPTION\((\w+), (\w+), "([^"]*)", (\w+), "([^"]*)"', re.M)
_PREFIX = re.compile(r'^IGNORED_PREFIX\("([^"]+)"\)', re.M)
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_FORMS = {
    "BOOL": r"true|false",
    "INT": r"-?\d+",
    "PORT": r"\d{1,5}",
    "RATIO": r"\d+(\.\d+)?",
    "DURATION": r"0|([\d.]+(ns|us|ms|s|m|h))+",
    "SIZE": r"[\d.]+ ?([kmgt]i?)?b?",
}


@dataclasses.dataclass
class Option:
    type: str
    flag: str
    default: str
    status: str
    form: str

    @property
    def variable(self):
        return "BYDB_" + self.flag.replace("-", "_").upper()

    def fault_of(self, value):
        """Why the value does not do; None when it does."""
        if self.type == "ENUM":
            choices = self.form.split("|")
            if "!" + value in choices:
                return f"{value} is not available yet"
            return None if value in choices else f"{value} is none of {self.form}"
        form = _FORMS.get(self.type)
        if form and not re.fullmatch(form, value, re.I):
            return f"{value} is no {self.type}"
        return None


class Options:
    def __init__(self, root):
        text = (root / "liaison/options/options_table.h").read_text()
        rows = [Option(kind, name.replace("_", "-"), default, status, form)
                for kind, name, default, status, form in _ROW.findall(text)]
        if not rows:
            raise SystemExit("liaison/options/options_table.h: no rows were found")
        self.by_flag = {row.flag: row for row in rows}
        self.by_variable = {row.variable: row for row in rows}
        self.prefixes = tuple(_PREFIX.findall(text))

    def is_ignored(self, flag):
        return flag.startswith(self.prefixes)


def seconds(duration):
    """1m30s → 90.0"""
    if duration == "0":
        return 0.0
    return sum(float(number) * _UNITS[unit]
               for number, unit in re.findall(r"([\d.]+)(ns|us|ms|s|m|h)", duration))
