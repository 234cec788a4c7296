# SPDX-License-Identifier: Apache-2.0
"""What a TopN answer must be, computed from the written rows alone.

Rows are loaded with the two calls that fill the sample nodes, `load(kind, document)` and `write(group, measure,
points)`. Of a series the last value in an interval counts, as the write side keeps it.
"""
import collections
import dataclasses

from oracle_groups import total

MINUTE = 60_000_000_000
MEAN, MAX, MIN, COUNT, SUM = range(1, 6)
DESC, ASC = 1, 2
FLOAT = "FIELD_TYPE_FLOAT"


@dataclasses.dataclass
class Rule:
    source: str
    field: str


class TopNOracle:
    """`rules` and `values`: {(group, rule): Rule}, {(group, measure): {entity: {interval: {field: value}}}}."""

    def __init__(self):
        self._entities, self._types, self.rules = {}, {}, {}
        self.values = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(dict)))

    def load(self, kind, document):
        key = document["metadata"].get("group"), document["metadata"]["name"]
        if kind == "measure":
            self._entities[key] = document["entity"]["tagNames"]
            self._types[key] = {field["name"]: field["fieldType"] for field in document["fields"]}
        if kind == "topNAggregation":
            self.rules[key] = Rule(document["sourceMeasure"]["name"], document["fieldName"])

    def write(self, group, measure, points):
        series = self.values[group, measure]
        for point in points:
            tags = {name: value for (_, name), value in point.tags.items()}
            entity = tuple(None if tags[name] == "" else tags[name] for name in self._entities[group, measure])
            series[entity][point.timestamp // MINUTE * MINUTE].update(point.fields)

    def is_float(self, request):
        rules = [(group, self.rules[group, request.name]) for group in request.groups]
        return any(self._types[group, rule.source][rule.field] == FLOAT for group, rule in rules)

    def answer(self, request, by_time):
        """[(group, entity, value)], best first. `by_time`: the function is taken over the intervals, otherwise over
        the best single value."""
        return [entry[1:] for entry in self.ranking(request, by_time)[:request.top_n]]

    def ranking(self, request, by_time):
        """All of them, with what they are ranked by: [(rank, group, entity, value)]. Of equal ranks some may be missing
        behind a cut, and nobody knows which: nodes cut, too."""
        found, floats = [], self.is_float(request)
        better = max if request.field_value_sort == DESC else min
        sign = -1 if request.field_value_sort == DESC else 1
        for place, group in enumerate(dict.fromkeys(request.groups)):
            for entity, values in self._values(group, request, floats):
                best = better(values)
                value = total(request.agg, values if by_time else [best], floats)
                found.append((sign * value, sign * best, _ordered(entity), place, group, entity, value))
        return [(entry[:2], *entry[-3:]) for entry in sorted(found, key=lambda entry: entry[:4])]

    def _values(self, group, request, floats):
        """(entity, its values in the range)"""
        rule = self.rules[group, request.name]
        names = self._entities[group, rule.source]
        wanted = {condition.name: getattr(condition.value, condition.value.WhichOneof("value")).value
                  for condition in request.conditions}
        begin, end = (moment.ToNanoseconds() for moment in (request.time_range.begin, request.time_range.end))
        for entity, times in self.values[group, rule.source].items():
            values = [fields[rule.field] for time, fields in times.items() if begin <= time <= end]
            values = [float(value) if floats else value for value in values if value is not None]
            if values and wanted.items() <= dict(zip(names, entity)).items():
                yield entity, values


def _ordered(entity):
    """Null comes first."""
    return [(value is not None, value.encode() if isinstance(value, str) else value or 0) for value in entity]
