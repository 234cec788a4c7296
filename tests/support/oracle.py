# SPDX-License-Identifier: Apache-2.0
"""What the answer to a scan must be, computed from the written rows alone: no nodes, no frames, no shards.

Rows are loaded with the same two calls that fill the sample nodes, `load(kind, document)` and
`write(group, measure, points)`. The answer comes as windows of rows with equal sort keys: inside a window
the order is the cluster's business, between windows it is not.
"""
import collections
import dataclasses

from google.protobuf import json_format

import catalog as catalogs
from cells import field_of, index_key, int_image, tag_of
from proto import message, nanoseconds, set_nanoseconds

DAY = 86_400_000_000_000
DEFAULT_LIMIT = 100
DESC = 1
NULL_KEY, KEY = (0, b""), 1
FIELD_STRING, FIELD_BINARY = 1, 3
FIELD_WITHOUT_NULL = {FIELD_STRING: "", FIELD_BINARY: b""}   # stored so when they are null

(EQ, NE, LT, GT, LE, GE, HAVING, NOT_HAVING, IN, NOT_IN, MATCH) = range(1, 12)
LOGICAL_OR = 2
OPERATOR_AND = 1


@dataclasses.dataclass
class Row:
    time: int
    tags: dict      # (family, name) → value
    fields: dict    # name → value
    entity: tuple

    def tag(self, name):
        return next((value for (_, tag), value in self.tags.items() if tag == name), None)


@dataclasses.dataclass
class Expected:
    """Windows of data points without sid and version; `offset` and `limit` cut the whole."""
    windows: list
    offset: int
    limit: int

    @property
    def points(self):
        return [point for window in self.windows for point in window]

    def rows(self):
        return max(0, min(self.limit, len(self.points) - self.offset))

    def check(self, got):
        """AssertionError unless `got` is one of the answers that this may be."""
        assert len(got) == self.rows(), f"{len(got)} rows instead of {self.rows()}"
        start = 0
        for window in self.windows:
            first, last = max(start, self.offset), min(start + len(window), self.offset + self.limit)
            part = got[max(0, first - self.offset):max(0, last - self.offset)]
            allowed = collections.Counter(point.SerializeToString(deterministic=True) for point in window)
            for at, point in enumerate(part):
                encoded = point.SerializeToString(deterministic=True)
                assert allowed[encoded] > 0, (
                    f"row {first - self.offset + at}: got\n{point}\nwhere one of these belongs:\n"
                    + "\n".join(map(str, window[:4])))
                allowed[encoded] -= 1
            start += len(window)


class Oracle:
    def __init__(self):
        self.catalog = catalogs.Catalog()
        self._written = collections.defaultdict(list)

    # ------------------------------------------------------------------ data

    def load(self, kind, document):
        self.catalog.add(kind, document)

    def write(self, group, measure, points):
        for point in points:
            self._written[group, measure].append((point.timestamp, dict(point.tags), dict(point.fields)))

    def _rows(self, group, name):
        """What is stored: the last write of a series and time; in index mode of a series and day."""
        measure = self.catalog.measure(group, name)
        fields = self.catalog.field_types(group, name)
        stored = {}
        for time, tags, values in self._written[group, name]:
            row = Row(time, tags, {field: FIELD_WITHOUT_NULL.get(kind) if values.get(field) is None else values[field]
                                   for field, kind in fields.items()}, ())
            row.entity = tuple(row.tag(tag) for tag in measure.entity.tag_names)
            row.tags = {key: _read_back(key, value, measure) for key, value in tags.items()}
            stored[row.entity, time // DAY if measure.index_mode else time] = row
        return list(stored.values())

    # ---------------------------------------------------------------- answer

    def answer(self, request):
        """The Expected answer to a QueryRequest message, or to the JSON document of one."""
        if isinstance(request, dict):
            request = json_format.ParseDict(request, message("measure.v1.QueryRequest"))
        groups = list(dict.fromkeys(request.groups))
        order_tag = None
        if request.order_by.index_rule_name:
            order_tag = self.catalog.order_tag(groups, request.name, request.order_by.index_rule_name)
            assert order_tag, request.order_by.index_rule_name
        windows = collections.defaultdict(list)
        for group in groups:
            for row in self.matching(group, request):
                windows[sort_key(row, order_tag)].append(self._point(row, request, groups))
        ordered = sorted(windows.items(), reverse=request.order_by.sort == DESC)
        return Expected([window for _, window in ordered], request.offset, request.limit or DEFAULT_LIMIT)

    def matching(self, group, request):
        begin, end = nanoseconds(request.time_range.begin), nanoseconds(request.time_range.end)
        criteria = request.criteria if request.HasField("criteria") else None
        rows = [row for row in self._rows(group, request.name) if begin <= row.time <= end]
        if self.catalog.measure(group, request.name).index_mode:
            rows = list({row.entity: row for row in sorted(rows, key=lambda row: row.time)}.values())
        return [row for row in rows if criteria is None or self._accepts(criteria, row, group, request.name)]

    def _accepts(self, criteria, row, group, name):
        if criteria.WhichOneof("exp") == "condition":
            return self._holds(criteria.condition, row, group, name)
        expression = criteria.le
        sides = [self._accepts(side, row, group, name) for side, given in
                 ((expression.left, expression.HasField("left")), (expression.right, expression.HasField("right")))
                 if given]
        return any(sides) if expression.op == LOGICAL_OR else all(sides)

    def _holds(self, condition, row, group, name):
        stored = row.tag(condition.name)
        kind = condition.value.WhichOneof("value")
        wanted = getattr(condition.value, kind).value
        if condition.op == MATCH:
            rule = self.catalog.bound_rule(group, name, condition.name)
            words = _words(wanted, condition.match_option.analyzer or rule.analyzer)
            known = _words(stored, rule.analyzer)
            return bool(words & known) if condition.match_option.operator != OPERATOR_AND else bool(words) and words <= known
        if condition.op == IN and isinstance(wanted, (str, int)):
            wanted = [wanted]    # nodes take it for one of the entity's values
        terms = set(stored) if isinstance(stored, tuple) else {stored}
        if condition.op in (HAVING, NOT_HAVING):
            all_of = set(wanted) if kind.endswith("_array") else {wanted}
            return (all_of <= terms) == (condition.op == HAVING)
        if condition.op in (IN, NOT_IN):
            return bool(terms & set(wanted)) == (condition.op == IN)
        if condition.op in (EQ, NE):
            return (wanted in terms) == (condition.op == EQ)
        if type(stored) is not type(wanted):
            return False
        return {LT: stored < wanted, GT: stored > wanted, LE: stored <= wanted, GE: stored >= wanted}[condition.op]

    # ---------------------------------------------------------------- layout

    def _point(self, row, request, groups):
        point = message("measure.v1.DataPoint")
        set_nanoseconds(point.timestamp, row.time)
        point.timestamp.SetInParent()
        families = {}
        for family, tag, asked in self._tags(request, groups):
            if family not in families:
                families[family] = point.tag_families.add(name=family)
            families[family].tags.add(key=tag, value=tag_of(row.tags.get((family, tag)) if asked else None))
        for field, asked in self._fields(request, groups):
            point.fields.add(name=field, value=field_of(row.fields.get(field) if asked else None))
        return point

    def _tags(self, request, groups):
        """(family, tag, whether it was asked for). Several groups and no tag asked: all tags, as nulls."""
        if request.tag_projection.tag_families or len(request.groups) == 1:
            return [(family.name, tag, True) for family in request.tag_projection.tag_families for tag in family.tags]
        known = dict.fromkeys(tag for group in groups for tag in self.catalog.tag_types(group, request.name))
        return [(family, tag, False) for family, tag in known]

    def _fields(self, request, groups):
        if request.field_projection.names or len(request.groups) == 1:
            return [(field, True) for field in request.field_projection.names]
        known = dict.fromkeys(field for group in groups for field in self.catalog.field_types(group, request.name))
        return [(field, False) for field in known]


def _read_back(key, value, measure):
    """An empty array, and an empty string of the entity, are read back as null."""
    if value == () or (value == "" and key[1] in measure.entity.tag_names):
        return None
    return value


def sort_key(row, order_tag):
    if order_tag is None:
        return KEY, int_image(row.time)
    key = index_key(tag_of(row.tags.get(order_tag)))
    return NULL_KEY if key is None else (KEY, key)


def _words(text, analyzer):
    if not isinstance(text, str):
        return set()
    if analyzer in ("", "keyword"):
        return {text}
    return {word.lower() for word in "".join(c if c.isalnum() else " " for c in text).split()}
