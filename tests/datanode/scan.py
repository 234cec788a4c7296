# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of a plan out of a store, in the order in which a node reads them."""
from dataclasses import dataclass


@dataclass
class Record:
    """One row on its way through the operators. Aggregated rows have no timestamp."""
    timestamp: int | None
    version: int
    series: int
    shard: int
    tags: list
    fields: list


def scan(plan, store, begin, end):
    """The matching records, or None where a node has "no result": no series in range matches."""
    with store.lock:
        read = _index_rows if plan.view.index_mode else _series_rows
        rows = read(plan, store.table(plan.view), store.segments(plan.view, begin, end), begin, end)
        return rows and [_record(plan, row) for row in rows]


def _series_rows(plan, table, segments, begin, end):
    matching = {identity for identity, _ in table.rows if plan.filter.matches(table.series[identity])}
    rows = [row for (identity, _), row in table.rows.items() if identity in matching and row.segment in segments]
    if not rows:
        return None
    rows = [row for row in rows if begin <= row.timestamp <= end]
    if plan.order_tag:
        return _in_index_order(plan, table, sorted(rows, key=lambda row: row.timestamp))
    rows.sort(key=lambda row: row.series.id)
    rows.sort(key=lambda row: row.timestamp, reverse=plan.descending)
    return rows


def _index_rows(plan, table, segments, begin, end):
    """One row per series, of the newest segment; without a rule the order is not defined."""
    newest = {}
    for (identity, segment), row in sorted(table.rows.items(), key=lambda item: item[0][1]):
        if segment in segments and begin <= row.timestamp <= end and plan.filter.matches(row):
            newest[identity] = row
    rows = list(newest.values())
    if plan.order_tag:
        rows = _in_index_order(plan, table, rows)
    elif len(segments) > 1:
        rows.sort(key=lambda row: row.series.id)
    return rows or None


def _in_index_order(plan, table, rows):
    """Rows by the indexed value, series of one value in the order in which they were first written.

    Series without a value, or with an empty one, come last in both directions.
    """
    age = {identity: position for position, identity in enumerate(table.series)}
    rows = sorted(rows, key=lambda row: age[row.series.id])
    present = [row for row in rows if row.value(plan.order_tag) not in (None, "")]
    absent = [row for row in rows if row.value(plan.order_tag) in (None, "")]
    return sorted(present, key=lambda row: row.value(plan.order_tag), reverse=plan.descending) + absent


def _record(plan, row):
    shard = 0 if plan.view.index_mode else row.series.shard
    tags = [read_tag(plan.view, row, tag.family, tag.name) for tag in plan.tags]
    fields = [row.fields.get(name) for name in plan.fields]
    return Record(row.timestamp, row.version, row.series.id, shard, tags, fields)


def read_tag(view, row, family, name):
    """A tag as it reads back: entity tags under any family, "" in them as null; others only under their own."""
    if name in view.entity:
        value = row.series.entity.get(name)
        return None if value == "" else value
    if (family, name) not in view.tag_by_key:
        return None
    if name in row.series.indexed:
        return row.series.indexed[name]
    return row.tags.get((family, name))
