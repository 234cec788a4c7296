# SPDX-License-Identifier: Apache-2.0
"""The operators behind the scan: grouping, aggregation (partial or final) and top."""
import sys

from plan import COUNT, MAX, MEAN, MIN, SORT_ASC, SUM
from scan import Record
from schema import FIELD_INT
from values import wrap_int64

_LARGEST = {int: (1 << 63) - 1, float: sys.float_info.max}
_SMALLEST = {int: -(1 << 63), float: -sys.float_info.max}


def group_key(record, keys):
    """Equal for records of one group. A null is the same key as zero or the empty string; arrays tell nothing apart."""
    values = (record.tags[index] for index in keys)
    return tuple(None if isinstance(value, tuple) else value or None for value in values)


class Accumulator:
    """Folds one group's field. Nulls are skipped; a start value that nothing replaced is sent as if it were data."""

    def __init__(self, function, number):
        self.function, self.number = function, number
        starts = {MIN: _LARGEST[number], MAX: _SMALLEST[number]}
        self.start = self.value = starts.get(function, number(0))
        self.count = 0

    def add(self, value):
        if value is None:
            return
        self.count += 1
        if self.function in (SUM, MEAN):
            self.value = self._wrapped(self.value + value)
        elif self.function == COUNT:
            self.value = self.number(self.count)
        elif self.function == MAX:
            self.value = value if value > self.value else self.value
        else:
            self.value = value if value < self.value or self.value == self.start else self.value

    def _wrapped(self, total):
        return wrap_int64(total) if self.number is int else total

    def partial(self):
        """What a liaison combines further: the value, and for a mean the count, in the type of the field."""
        return [self.value, self.number(self.count)] if self.function == MEAN else [self.value]

    def final(self):
        """The finished value. A mean below one becomes one, as the database has it."""
        if self.function != MEAN:
            return [self.value]
        if not self.count:
            return [self.number(0)]
        mean = self.value / self.count if self.number is float else _truncated(self.value, self.count)
        return [self.number(1) if mean < 1 else mean]


def _truncated(total, count):
    return abs(total) // count * (1 if total >= 0 else -1)


def aggregate(plan, records):
    """One record per group, in the order of their first rows, which also give the tags that are no keys."""
    index = plan.fields.index(plan.request.agg.field_name)
    number = int if plan.view.fields[plan.request.agg.field_name] == FIELD_INT else float
    groups = {}
    for record in records:
        key = group_key(record, plan.keys)
        if key not in groups:
            groups[key] = (record, Accumulator(plan.request.agg.function, number))
        groups[key][1].add(record.fields[index])
    return [Record(None, 0, 0, first.shard if plan.groups else 0, first.tags,
                   folded.partial() if plan.partial else folded.final()) for first, folded in groups.values()]


def first_of_groups(plan, records):
    """The first record of each group, in that order."""
    groups = {}
    for record in records:
        groups.setdefault(group_key(record, plan.keys), record)
    return list(groups.values())


def top(plan, records):
    """The best records by a field, best first; a null is lowest, of equals the earlier comes first."""
    asked = plan.request.top
    index = 0 if plan.aggregates else plan.fields.index(asked.field_name)

    def rank(record):
        value = record.fields[index]
        return (0, 0) if value is None or isinstance(value, (str, bytes)) else (1, value)

    ranked = sorted(records, key=rank, reverse=asked.field_value_sort != SORT_ASC)
    return ranked[:max(asked.number, 0)]
