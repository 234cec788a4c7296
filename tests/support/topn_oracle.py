# SPDX-License-Identifier: Apache-2.0
"""What a TopN answer must be, computed from the written rows alone.

Rows are loaded with the two calls that fill the sample nodes, `load(kind, document)` and `write(group, measure,
points)`. Of a series the last value in an interval counts, as the write side keeps it.
"""
import collections
import dataclasses
import statistics

MINUTE = 60_000_000_000
MEAN, MAX, MIN, COUNT, SUM = range(1, 6)
DESC, ASC = 1, 2


@dataclasses.dataclass
class Rule:
    source: str
    field: str


class TopNOracle:
    """`rules` and `values`: {(group, rule): Rule}, {(group, measure): {entity: {interval: {field: value}}}}."""

    def __init__(self):
        self._entities, self.rules = {}, {}
        self.values = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(dict)))

    def load(self, kind, document):
        key = document["metadata"].get("group"), document["metadata"]["name"]
        if kind == "measure":
            self._entities[key] = document["entity"]["tagNames"]
        if kind == "topNAggregation":
            self.rules[key] = Rule(document["sourceMeasure"]["name"], document["fieldName"])

    def write(self, group, measure, points):
        series = self.values[group, measure]
        for point in points:
            tags = {name: value for (_, name), value in point.tags.items()}
            entity = tuple(tags[name] for name in self._entities[group, measure])
            series[entity][point.timestamp // MINUTE * MINUTE].update(point.fields)

    def answer(self, request, by_time):
        """[(group, entity, value)], best first. `by_time`: the function is taken over the intervals, otherwise over
        the best single value."""
        found = []
        better = max if request.field_value_sort == DESC else min
        sign = -1 if request.field_value_sort == DESC else 1
        begin, end = (moment.ToNanoseconds() for moment in (request.time_range.begin, request.time_range.end))
        for place, group in enumerate(dict.fromkeys(request.groups)):
            rule = self.rules[group, request.name]
            for entity, times in self.values[group, rule.source].items():
                values = [fields[rule.field] for time, fields in times.items() if begin <= time <= end]
                if values:
                    best = better(values)
                    value = fold(request.agg, values if by_time else [best])
                    found.append((sign * value, sign * best, entity, place, group, value))
        return [(group, entity, value) for *_, entity, _, group, value in sorted(found)[:request.top_n]]


def fold(function, values):
    if function == MEAN:
        mean = statistics.fmean(values) if isinstance(values[0], float) else sum(values) // len(values)
        return max(mean, type(values[0])(1))
    return {MAX: max, MIN: min, COUNT: len, SUM: sum}[function](values)
