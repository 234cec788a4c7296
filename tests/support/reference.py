# SPDX-License-Identifier: Apache-2.0
"""What the answer to a query without agg must be, computed from the nodes' frames by a second, slow reading of
the rules; reduction.py does it for aggregations.

The same code computes two answers. `Rules.GO` is what the Go liaison
does with these frames when they arrive in a given order; with it the recorded answers of a real cluster
prove that this reading is right. `Rules.OURS` is what the program must do: nodes by name, and right where
Go is not. The switches name the differences one by one.
"""
import dataclasses
import itertools
import struct

from cells import field_of, index_key, int_image, tag_of
from proto import message, parse, set_nanoseconds
from ranking import best, first_of_groups, key_part, number_of

TIMESTAMP, VERSION, SERIES, SHARD, TAG, FIELD = range(1, 7)
TAG_VALUE, FIELD_VALUE = 5, 6
DEFAULT_LIMIT = 100
UINT32 = 1 << 32


@dataclasses.dataclass(frozen=True)
class Rules:
    null_window: bool        # null sort keys are a window of their own, also ascending
    empty_after_null: bool   # "" of a TagValue is a key, not null
    saturate: bool           # limit + offset does not wrap at 2^32
    groups_apart: bool       # rows of different groups are different rows
    signed_time: bool        # times before 1970 sort before those after
    hide_exactly: bool       # the hidden order tag alone is left out, not its namesakes
    hide_in_groups: bool     # it may be hidden also when several groups are asked
    group_once: bool         # a group named twice is asked once
    null_key_apart: bool     # a null group key is another one than 0 or ""
    group_in_groups: bool    # rows of several groups may be grouped and ranked by what is not projected
    promote: bool            # partials whose columns differ between nodes are combined by their values
    copies_count: bool       # all partials are combined: whoever has copies does not ask for partials


Rules.GO = Rules(*[False] * 12)
Rules.OURS = Rules(*[True] * 12)


class Failure(Exception):
    """The query fails with this text."""


@dataclasses.dataclass
class Row:
    key: tuple
    time: int
    series: int
    version: int
    group: int
    source: int
    place: int
    tags: list     # of TagValue
    fields: list   # of FieldValue
    keys: tuple    # of group_by
    number: object # of top


# ------------------------------------------------------------------- cells

def tag_value(kind, cell):
    """The TagValue of a decoded cell; kind is the column's type."""
    if kind == TAG_VALUE and cell is not None:
        made = parse("model.v1.TagValue", cell)
        return made if made.WhichOneof("value") else tag_of(None)
    return tag_of(cell)


def field_value(kind, cell):
    if kind == FIELD_VALUE and cell is not None:
        made = parse("model.v1.FieldValue", cell)
        return made if made.WhichOneof("value") else field_of(None)
    return field_of(cell)


# ------------------------------------------------------------------ layout

def projected(request):
    return [(family.name, tag) for family in request.tag_projection.tag_families for tag in family.tags]


def layout_of_groups(request, catalog, groups, rules):
    """Several groups: (tags, fields) of the answer, from the schemas and the client's projections."""
    tags = list(request.tag_projection.tag_families) and projected(request)
    fields = list(request.field_projection.names)
    known = {tag for group in groups for tag in catalog.tag_types(group, request.name)}
    for family, tag in tags:
        if (family, tag) not in known:
            raise Failure(f"vec distributed plan: build multi-group schema: {tag}: tag is not defined")
    if not tags:
        tags = list(dict.fromkeys(tag for group in groups for tag in catalog.tag_types(group, request.name)))
    if not fields:
        fields = list(dict.fromkeys(field for group in groups
                                    for field in catalog.field_types(group, request.name)))
    if rules.group_in_groups:
        tags += [key for key in keys_of(request) if key not in tags]
    return tags, fields


def keys_of(request):
    """(family, name) of the tags in group_by: those of its first family."""
    families = request.group_by.tag_projection.tag_families
    return [(families[0].name, tag) for tag in families[0].tags] if families else []


def hidden_field(request):
    """The field of top, when it is not projected."""
    name = request.top.field_name if request.HasField("top") and request.top.number > 0 else ""
    return name if name not in request.field_projection.names else ""


def layout_of_frame(frame):
    return ([(column.family, column.name) for column in frame.columns if column.role == TAG],
            [column.name for column in frame.columns if column.role == FIELD])


def column_cells(frame, role, family, name, occurrence=0):
    """(type, cells) of a column, or None."""
    found = [column for column in frame.columns
             if (column.role, column.family, column.name) == (role, family, name)]
    return (found[occurrence].type, found[occurrence].cells) if occurrence < len(found) else None


def numbered(names):
    """Each name with how often it came before: a projection may name a tag twice."""
    seen = {}
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        yield name, seen[name]


# ------------------------------------------------------------------- merge

def rows_of(frame, source, group, tags, fields, order_tag, request, rules):
    meta = {column.role: column.cells for column in frame.columns if column.role < TAG}
    tag_columns = [column_cells(frame, TAG, family, name, nth) for (family, name), nth in numbered(tags)]
    field_columns = [column_cells(frame, FIELD, "", name, nth) for name, nth in numbered(fields)]
    order_column = column_cells(frame, TAG, *order_tag) if order_tag else None
    if order_tag and order_column is None:
        raise Failure(f"vec distributed plan: merge rows: row merge: OrderBy tag "
                      f"{'.'.join(order_tag)} not found in merged-batch schema")
    key_columns = [column_cells(frame, TAG, *key) for key in keys_of(request)]
    top_column = column_cells(frame, FIELD, "", request.top.field_name) if request.HasField("top") else None
    rows = []
    for at in range(frame.rows):
        time = meta[TIMESTAMP][at]
        if order_tag:
            key = sort_key(order_column, at, rules)
        else:
            key = (1, int_image(time) if rules.signed_time else struct.pack(">q", time))
        rows.append(Row(key, time, meta[SERIES][at] % (1 << 64), meta[VERSION][at], group, source, at,
                        [tag_value(*pick(column, at)) for column in tag_columns],
                        [field_value(*pick(column, at)) for column in field_columns],
                        tuple(key_part(*pick(column, at), rules.null_key_apart) for column in key_columns),
                        number_of(*pick(top_column, at))))
    rows.sort(key=lambda row: row.key, reverse=descending(request))
    for place, row in enumerate(rows):
        row.place = place
    return rows


def pick(column, at):
    return (None, None) if column is None else (column[0], column[1][at])


def sort_key(column, at, rules):
    """(0, b"") is null: it comes before everything, also before an empty key."""
    kind, cells = column
    key = index_key(tag_value(kind, cells[at]))
    if key == b"" and kind == TAG_VALUE and not rules.empty_after_null:
        key = None
    return (0, b"") if key is None else (1, key)


def descending(request):
    return request.order_by.sort == 1


def windows(rows, request, rules):
    """Rows of equal keys, in the order of the keys."""
    ordered = sorted(rows, key=lambda row: row.source)
    ordered.sort(key=lambda row: row.key if rules.null_window else row.key[1], reverse=descending(request))
    window, key = [], None
    for row in ordered:
        same = row.key == key if rules.null_window else key is None or row.key[1] == key[1]
        if window and not same:
            yield window
            window = []
        window.append(row)
        # Go cannot tell a null key from "no window yet": the next row always joins.
        key = row.key if rules.null_window or row.key[0] else None
    if window:
        yield window


def survivors(window, rules):
    """One row for each record, the newest version; ties fall to the first source."""
    newest = {}
    for row in window:
        record = (row.group if rules.groups_apart else 0, row.series, row.time)
        if record not in newest or row.version > newest[record].version:
            newest[record] = row
    return sorted(newest.values(), key=lambda row: (row.source, row.place))


def cut(rows, request, rules):
    limit = request.limit or DEFAULT_LIMIT
    end = request.offset + limit
    if end >= UINT32 and not rules.saturate:
        return []
    return rows[request.offset:end]


def once_per_series(rows):
    seen = set()
    for row in rows:
        if (row.group, row.series) not in seen:
            seen.add((row.group, row.series))
            yield row


def merge(request, catalog, frames, rules):
    """Rows of the answer, with its layout.

    frames: one list for each group asked, of (node, Frame) in the order in which they count.
    """
    groups = list(dict.fromkeys(request.groups)) if rules.group_once else list(request.groups)
    order_tag = None
    if request.order_by.index_rule_name:
        order_tag = catalog.order_tag(groups, request.name, request.order_by.index_rule_name)
    hidden = order_tag is not None and order_tag not in projected(request)
    sources = [(group, frame) for group in range(len(groups)) for _, frame in frames[group] if frame.rows]
    if len(request.groups) > 1:
        tags, fields = layout_of_groups(request, catalog, groups, rules)
    elif sources:
        tags, fields = layout_of_frame(sources[0][1])
    else:
        return [], [], [], frozenset()
    if hidden and len(groups) > 1 and not rules.hide_in_groups and order_tag not in tags:
        raise Failure(f"vec distributed plan: merge multi-group rows: row merge: OrderBy tag "
                      f"{'.'.join(order_tag)} not found in merged-batch schema")
    rows = list(itertools.chain.from_iterable(
        rows_of(frame, source, group, tags, fields, order_tag, request, rules)
        for source, (group, frame) in enumerate(sources)))
    merged = [row for window in windows(rows, request, rules) for row in survivors(window, rules)]
    if all(catalog.measure(group, request.name).index_mode for group in groups):
        merged = list(once_per_series(merged))
    if request.HasField("group_by"):
        merged = first_of_groups(merged)
    if request.HasField("top"):
        merged = best(merged, request.top, lambda row: row.number)
    left_out = frozenset(at for at, tag in enumerate(tags) if hidden and len(groups) == 1 and
                         (tag == order_tag if rules.hide_exactly else tag[1] == order_tag[1]))
    return cut(merged, request, rules), tags, fields, left_out


# ------------------------------------------------------------------ answer

def data_point(row, tags, fields, left_out, without_field):
    point = message("measure.v1.DataPoint", {})
    set_nanoseconds(point.timestamp, row.time)
    point.timestamp.SetInParent()
    point.sid, point.version = row.series, row.version
    families = {}
    for at, ((family, name), value) in enumerate(zip(tags, row.tags)):
        if at in left_out:
            continue
        if family not in families:
            families[family] = point.tag_families.add(name=family)
        families[family].tags.add(key=name, value=value)
    for name, value in zip(fields, row.fields):
        if name != without_field:
            point.fields.add(name=name, value=value)
    return point


def answer(request, catalog, frames, rules):
    """The data points of the answer. Raises Failure."""
    rows, tags, fields, left_out = merge(request, catalog, frames, rules)
    return [data_point(row, tags, fields, left_out, hidden_field(request)) for row in rows]


def orders_of_nodes(frames, most=5000):
    """The frames in every order of the nodes; each group's nodes may come in an order of its own."""
    orders = [list(itertools.permutations(nodes)) for nodes in frames]
    for chosen in itertools.islice(itertools.product(*orders), most):
        yield [list(nodes) for nodes in chosen]
