# SPDX-License-Identifier: Apache-2.0
"""What group_by, agg and top must answer, computed from the written rows alone; beside oracle.py, which does it
for rows.

Three kinds of answers, by what is certain about them:

- `folded`: aggregates of pulled rows. Everything is certain, the order of groups and whose tags they carry
  included: a group's first row by sort key, request group, time and series gives both.
- `Combined`: aggregates of nodes' partials. A node merges a null key with 0 or "", and shows either; nothing
  tells the order of groups, and whose tags they carry.
- `of_stream`: rows that are grouped or ranked. They are certain once the order of all rows is: it is taken from
  an answer that has them all, which the oracle for rows has checked.
"""
import collections
import fractions
import math
import sys

from cells import field_of, tag_of
from compare import encoded, show, without
from oracle import DEFAULT_LIMIT, DESC, sort_key
from proto import message
from series import series_id

MEAN, MAX, MIN, COUNT, SUM = range(1, 6)
ASC = 2
FIELD_FLOAT = 4
STARTS = (2**63 - 1, -2**63, sys.float_info.max, -sys.float_info.max)    # of a node's MIN and MAX


def keys_of(request):
    """(family, name) of the tags in group_by: those of its first family, each once."""
    families = request.group_by.tag_projection.tag_families
    return list(dict.fromkeys((families[0].name, tag) for tag in families[0].tags)) if families else []


def cut(found, request):
    return found[request.offset:request.offset + (request.limit or DEFAULT_LIMIT)]


# ------------------------------------------------------------------ totals

def is_float(oracle, request):
    return any(oracle.catalog.field_types(group, request.name)[request.agg.field_name] == FIELD_FLOAT
               for group in request.groups)


def total(function, values, floats):
    """The aggregate of values without nulls, in the field's type."""
    if function == COUNT:
        return float(len(values)) if floats else len(values)
    if function in (MIN, MAX):
        return _extreme(values, min if function == MIN else max)
    summed = _float_sum(values) if floats else _wrap(sum(values))
    if function == SUM:
        return summed
    if not values:
        return 0.0 if floats else 0
    mean = summed / len(values) if floats else _truncated(summed, len(values))
    return (1.0 if floats else 1) if mean < 1 else mean


def _extreme(values, pick):
    """NaN only when there is nothing else; -0 is below 0."""
    numbers = [value for value in values if not math.isnan(value)]
    if numbers:
        return pick(numbers, key=lambda value: (value, math.copysign(1, value) if isinstance(value, float) else 0))
    return values[0] if values else None


def _float_sum(values):
    """Exact, rounded once."""
    odd = [value for value in values if not math.isfinite(value)]
    if odd:
        return math.nan if math.isnan(sum(odd)) else sum(odd)
    exact = sum(map(fractions.Fraction, values), fractions.Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _wrap(value):
    return (value + 2**63) % 2**64 - 2**63


def _truncated(value, count):
    return abs(value) // count * (1 if value >= 0 else -1)


# ------------------------------------------------------------------ groups

class Group:
    """Rows of one key, in the order of their ranks."""

    def __init__(self, key):
        self.key, self.rows, self.value = key, [], None

    def values(self, field, floats):
        found = [row.fields.get(field) for row in self.rows]
        return [float(value) if floats else value for value in found if value is not None]


def _ranked_rows(oracle, request):
    """All rows that match, by sort key in the direction, then request group, time and series."""
    groups = list(dict.fromkeys(request.groups))
    order_tag = None
    if request.order_by.index_rule_name:
        order_tag = oracle.catalog.order_tag(groups, request.name, request.order_by.index_rule_name)
    found = []
    for index, group in enumerate(groups):
        for row in oracle.matching(group, request):
            found.append((index, row.time, series_id(request.name, row.entity), row))
    found.sort(key=lambda entry: entry[:3])
    found.sort(key=lambda entry: sort_key(entry[3], order_tag), reverse=request.order_by.sort == DESC)
    return [row for *_, row in found]


def _grouped(oracle, request, key_of):
    groups = {}
    for row in _ranked_rows(oracle, request):
        key = key_of(row)
        groups.setdefault(key, Group(key)).rows.append(row)
    floats = is_float(oracle, request)
    for group in groups.values():
        group.value = total(request.agg.function, group.values(request.agg.field_name, floats), floats)
    return list(groups.values())


def _key(row, keys):
    """Null is a key of its own; types tell apart, too."""
    return tuple(tag_of(row.tags.get(key)).SerializeToString() for key in keys)


def _rank(value):
    if value is None or isinstance(value, (str, bytes)):
        return 0, 0
    return (1, 0) if math.isnan(value) else (2, value)


def _best(found, request, value_of):
    if not request.HasField("top") or request.top.number <= 0:
        return found
    ranked = sorted(found, key=lambda entry: _rank(value_of(entry)), reverse=request.top.field_value_sort != ASC)
    return ranked[:request.top.number]


def layout(oracle, request):
    """(family, name) of the answer's tags."""
    groups = list(dict.fromkeys(request.groups))
    known = {tag for group in groups for tag in oracle.catalog.tag_types(group, request.name)}
    shown = [(family.name, tag) for family in request.tag_projection.tag_families for tag in family.tags]
    if len(request.groups) > 1:
        shown = [tag for tag in shown if tag in known]
    return shown + [key for key in keys_of(request) if key not in shown]


def _point(tags, row, field, value):
    point = message("measure.v1.DataPoint")
    families = {}
    for family, tag in tags:
        if family not in families:
            families[family] = point.tag_families.add(name=family)
        families[family].tags.add(key=tag, value=tag_of(row.tags.get((family, tag))))
    point.fields.add(name=field, value=field_of(value))
    return point


def folded(oracle, request):
    """The data points of the one right answer when rows are pulled."""
    keys, tags = keys_of(request), layout(oracle, request)
    groups = _grouped(oracle, request, lambda row: _key(row, keys))
    groups = cut(_best(groups, request, lambda group: group.value), request)
    return [_point(tags, group.rows[0], request.agg.field_name, group.value) for group in groups]


# ---------------------------------------------------------------- partials

def _gathered(tags):
    """Tags of one family stand together."""
    families = list(dict.fromkeys(family for family, _ in tags))
    return sorted(tags, key=lambda tag: families.index(tag[0]))


def _is_nothing(value):
    return value in (None, 0, "", b"")


class Combined:
    """Answers that combined partials may give."""

    def __init__(self, oracle, request):
        self._request, self._keys = request, keys_of(request)
        self._tags = layout(oracle, request)
        self._groups = {group.key: group for group in _grouped(oracle, request, self._coarse)}
        self._mixed = {key for key, group in self._groups.items()
                       if len({_key(row, self._keys) for row in group.rows}) > 1}

    def _coarse(self, row):
        return tuple(None if _is_nothing(row.tags.get(key)) else tag_of(row.tags.get(key)).SerializeToString()
                     for key in self._keys)

    def _read(self, point):
        """(coarse key, value) of a data point."""
        shown = {(family.name, tag.key): tag.value for family in point.tag_families for tag in family.tags}
        nothing = [tag_of(value).SerializeToString() for value in (None, 0, "", b"")]
        key = tuple(None if shown[key].SerializeToString() in nothing else shown[key].SerializeToString()
                    for key in self._keys)
        (field,) = point.fields
        return key, field.value

    @property
    def is_open(self):
        """Partials do not tell the MIN or MAX of a group without values: rows are asked for."""
        return self._request.agg.function in (MIN, MAX) and any(group.value is None for group in self._groups.values())

    @property
    def may_be_open(self):
        """Nor those of a group with values that a node may not take, or that it starts from."""
        field = self._request.agg.field_name
        return self.is_open or (self._request.agg.function in (MIN, MAX) and any(
            value in STARTS or not math.isfinite(value)
            for group in self._groups.values() for value in group.values(field, False)))

    def check(self, got):
        """AssertionError unless `got` is such an answer."""
        for point in got:
            assert self._layout_of(point) == _gathered(self._tags), f"other tags than {self._tags}: {show(point)}"
        found = collections.defaultdict(list)
        for point in got:
            key, value = self._read(point)
            assert key in self._groups, f"no such group: {show(point)}"
            found[key].append(value)
        for key, values in found.items():
            if key not in self._mixed:
                wanted = field_of(self._groups[key].value)
                assert list(map(encoded, values)) == [encoded(wanted)], f"group {key}: {values} instead of {wanted}"
        if not self._mixed:
            self._check_count(got)

    def _layout_of(self, point):
        return [(family.name, tag.key) for family in point.tag_families for tag in family.tags]

    def _check_count(self, got):
        request = self._request
        wanted = sorted((_rank(group.value) for group in self._groups.values()),
                        reverse=request.top.field_value_sort != ASC)
        if request.HasField("top") and request.top.number > 0:
            wanted = cut(wanted[:request.top.number], request)
            assert [_rank(number_of(point.fields[0].value)) for point in got] == wanted
        else:
            assert len(got) == len(cut(wanted, request)), f"{len(got)} groups instead of {len(cut(wanted, request))}"


def number_of(value):
    kind = value.WhichOneof("value")
    return getattr(value, kind).value if kind in ("int", "float") else None


# ------------------------------------------------------------------ stream

def stream_request(request):
    """What gives all rows in the order in which `request` groups and ranks them, with all that it needs of them."""
    asked = message("measure.v1.QueryRequest")
    asked.CopyFrom(request)
    asked.ClearField("group_by")
    asked.ClearField("top")
    asked.offset, asked.limit = 0, 2**32 - 1
    shown = [(family.name, tag) for family in asked.tag_projection.tag_families for tag in family.tags]
    for family, tag in keys_of(request):
        if (family, tag) not in shown:
            known = next((found for found in asked.tag_projection.tag_families if found.name == family), None)
            known = asked.tag_projection.tag_families.add(name=family) if known is None else known
            known.tags.append(tag)
    if request.HasField("top") and request.top.field_name not in asked.field_projection.names:
        asked.field_projection.names.append(request.top.field_name)
    return asked


def of_stream(request, points, order_tag):
    """The answer, from all rows in order."""
    if request.HasField("group_by"):
        first = {}
        for point in points:
            shown = {(family.name, tag.key): encoded(tag.value) for family in point.tag_families for tag in family.tags}
            first.setdefault(tuple(shown[key] for key in keys_of(request)), point)
        points = list(first.values())
    name = request.top.field_name
    points = _best(points, request, lambda point: number_of(
        next(field.value for field in reversed(point.fields) if field.name == name)))
    return [_as_projected(request, point, order_tag) for point in cut(points, request)]


def _as_projected(request, point, order_tag):
    """Without the field of top and the tag of the order, if the client did not ask for them."""
    copy = without(point)
    if name_is_hidden(request):
        del copy.fields[-1]
    asked = [(family.name, tag) for family in request.tag_projection.tag_families for tag in family.tags]
    if order_tag is None or order_tag in asked:
        return copy
    for at, family in reversed(list(enumerate(copy.tag_families))):
        kept = [tag for tag in family.tags if (family.name, tag.key) != order_tag]
        if kept:
            del family.tags[:]
            family.tags.extend(kept)
        else:
            del copy.tag_families[at]
    return copy


def name_is_hidden(request):
    return request.HasField("top") and request.top.field_name not in request.field_projection.names
