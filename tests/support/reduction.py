# SPDX-License-Identifier: Apache-2.0
"""What the answer to an aggregation must be, computed from the nodes' partials; beside reference.py, which
does it for rows, and with the same two sets of rules."""
import dataclasses
import math
import struct
import sys

import reference
from cells import field_of
from proto import message
from ranking import best, key_part
from reference import FIELD, FIELD_VALUE, SHARD, TAG, Failure

MEAN, MAX, MIN, COUNT, SUM = range(1, 6)
FLOAT = 4
COUNT_SUFFIX = "__agg_count"
INT64 = 1 << 64


@dataclasses.dataclass
class Group:
    tags: list
    partials: list     # of (value, count)
    value: object = None


def answer(request, catalog, frames, rules):
    """The data points of any answer. Raises Failure."""
    if not request.HasField("agg"):
        return reference.answer(request, catalog, frames, rules)
    groups = list(dict.fromkeys(request.groups))
    sources = [frame for group in frames for _, frame in group if frame.rows]
    if not sources:
        return []
    tags = layout(request, catalog, groups, sources[0], rules)
    folded = fold(request, sources, tags, rules)
    is_float = any(catalog.field_types(group, request.name)[request.agg.field_name] == FLOAT for group in groups)
    for group in folded:
        group.value = finish(request.agg.function, group.partials, is_float, rules)
    if request.HasField("top") and request.top.number > 0:
        if request.top.field_name != request.agg.field_name:
            raise Failure(f'vec distributed plan: top reduced frames: ApplyTopToReduce: field '
                          f'"{request.top.field_name}" not present in reduced schema')
        folded = best(folded, request.top, lambda group: group.value)
    return [data_point(group, tags, request.agg.field_name) for group in reference.cut(folded, request, rules)]


def layout(request, catalog, groups, frame, rules):
    if len(request.groups) == 1 or not rules.promote:
        return reference.layout_of_frame(frame)[0]
    known = {tag for group in groups for tag in catalog.tag_types(group, request.name)}
    shown = [tag for tag in reference.projected(request) if tag in known]
    return shown + [key for key in reference.keys_of(request) if key not in shown]


def fold(request, sources, tags, rules):
    """The groups, in the order in which they are seen first."""
    groups, seen = {}, set()
    wanted = [(column.name, column.role, column.type) for column in sources[0].columns]
    for source in sources:
        if not rules.promote and [(column.name, column.role, column.type) for column in source.columns] != wanted:
            raise Failure("vec distributed plan: reduce raw frames: ReducePartialBatches: schema mismatch")
        for shard, key, carried, partial in rows_of(request, source, tags, rules):
            if not rules.copies_count and (shard, key) in seen:
                continue
            seen.add((shard, key))
            groups.setdefault(key, Group(carried, [])).partials.append(partial)
    return list(groups.values())


def rows_of(request, frame, tags, rules):
    tag_columns = [reference.column_cells(frame, TAG, family, name, nth)
                   for (family, name), nth in reference.numbered(tags)]
    key_columns = [reference.column_cells(frame, TAG, family, name) if rules.promote else
                   next((column.type, column.cells) for column in frame.columns
                        if (column.role, column.name) == (TAG, name)) for family, name in reference.keys_of(request)]
    value = reference.column_cells(frame, FIELD, "", request.agg.field_name)
    count = reference.column_cells(frame, FIELD, "", request.agg.field_name + COUNT_SUFFIX)
    shards = next((column.cells for column in frame.columns if column.role == SHARD), [0] * frame.rows)
    for at in range(frame.rows):
        key = tuple(key_part(kind, cells[at], rules.null_key_apart) for kind, cells in key_columns)
        yield (shards[at], key, [reference.tag_value(*reference.pick(column, at)) for column in tag_columns],
               (number(value, at, rules), number(count, at, rules) if count else None))


def number(column, at, rules):
    """A partial's number. Go reads messages as whole numbers; what is none counts as 0 there."""
    kind, cells = column
    if kind != FIELD_VALUE:
        return cells[at]
    value = reference.field_value(kind, cells[at])
    variant = value.WhichOneof("value")
    found = getattr(value, variant).value if variant in ("int", "float") else None
    return found if rules.promote else whole(found or 0)


def whole(value):
    """As amd64 turns a float into an int64."""
    if isinstance(value, float) and (math.isnan(value) or not -2**63 <= value < 2**63):
        return -2**63
    return int(value)


def wrap(total):
    return struct.unpack("<q", struct.pack("<Q", total % INT64))[0]


def finish(function, partials, is_float, rules):
    values = [value for value, _ in partials if value is not None]
    floats = is_float if rules.promote else any(isinstance(value, float) for value in values)
    if function == COUNT:
        total = sum(map(int, values))
        return float(total) if floats else total
    if function in (MIN, MAX):
        return extreme(function, values, floats, rules)
    total = add(values, floats, rules)
    if function == SUM:
        return total
    counted = sum(int(count) for value, count in partials if value is not None and count is not None)
    if not counted:
        return 0.0 if floats else 0
    mean = total / counted if floats else abs(total) // counted * (1 if total >= 0 else -1)
    return (1.0 if floats else 1) if mean < 1 else mean


def add(values, floats, rules):
    if not floats:
        return wrap(sum(map(int, values)))
    if not rules.promote:
        return sum(values, 0.0)
    odd = [value for value in values if not math.isfinite(value)]
    return sum(odd) if odd else math.fsum(values)


def extreme(function, values, floats, rules):
    """Nodes start from the far end; a group whose values are all null still has that."""
    far = {(MIN, False): 2**63 - 1, (MAX, False): -2**63,
           (MIN, True): sys.float_info.max, (MAX, True): -sys.float_info.max}[function, floats]
    if rules.promote:
        real = [value for value in values if value != far]
        numbers = [value for value in real if not math.isnan(value)]
        pick = min if function == MIN else max
        return pick(numbers) if numbers else real[0] if real else None
    current = far
    for value in values:
        if (value > current) if function == MAX else (value < current or current == far):
            current = value
    return current


def data_point(group, tags, field):
    point = message("measure.v1.DataPoint")
    families = {}
    for (family, name), value in zip(tags, group.tags):
        if family not in families:
            families[family] = point.tag_families.add(name=family)
        families[family].tags.add(key=name, value=value)
    point.fields.add(name=field, value=field_of(group.value))
    return point
