# SPDX-License-Identifier: Apache-2.0
"""Rows in memory as one data node holds them, with the storage's habits: see `Table`."""
import threading
from dataclasses import dataclass

from placement import series_id, shard_of
from schema import FIELD_BINARY, FIELD_STRING

_FIELD_NULL = {FIELD_STRING: "", FIELD_BINARY: b""}     # these field types are stored without a null


@dataclass
class Point:
    """A row as a writer sends it. Tags are keyed by (family, name), fields by name."""
    timestamp: int
    tags: dict
    fields: dict
    version: int = 0


@dataclass
class Series:
    """What the series index knows: the entity, and the indexed tags, of which a series has one value each."""
    id: int
    shard: int
    entity: dict
    indexed: dict

    def value(self, name):
        """The value that conditions and index order see, None where there is none."""
        return self.entity[name] if name in self.entity else self.indexed.get(name)


@dataclass
class Row:
    series: Series
    timestamp: int
    version: int
    segment: int
    tags: dict
    fields: dict

    def value(self, name):
        """As Series.value; the tags of an index-mode row lie in the index as well."""
        if name in self.series.entity or name in self.series.indexed:
            return self.series.value(name)
        return next((value for (_, tag), value in self.tags.items() if tag == name), None)


class Table:
    """The rows of one measure on one node.

    Ordinary measures keep the highest version of each series and timestamp. Their indexed tags are kept once per
    series: the last row of the first batch that brings the series wins, later batches change nothing.
    Index-mode measures keep one row per series and segment, the one written last.
    """

    def __init__(self):
        self.series = {}
        self.rows = {}

    def add_series(self, batch):
        """Registers the series of a batch that are new; of rows of one new series the last one counts."""
        self.series.update({row.series.id: row.series for row in batch if row.series.id not in self.series})

    def add(self, row, index_mode):
        row.series = self.series[row.series.id]
        key = (row.series.id, row.segment if index_mode else row.timestamp)
        stored = self.rows.get(key)
        if stored is None or stored.version < row.version:
            self.rows[key] = row


class Store:
    """All rows of one node."""

    def __init__(self):
        self.lock = threading.RLock()
        self._tables = {}
        self._segments = {}

    def tables(self):
        """All tables by (group, measure)."""
        return dict(self._tables)

    def table(self, view):
        return self._tables.setdefault((view.group.metadata.name, view.name), Table())

    def write(self, view, batch):
        """Stores rows that `make_row` made, as one batch."""
        with self.lock:
            table = self.table(view)
            table.add_series(batch)
            for row in batch:
                table.add(row, view.index_mode)
            self._segments.setdefault(view.group.metadata.name, set()).update(row.segment for row in batch)

    def segments(self, view, begin, end):
        """The segments of the measure's group that a time range touches."""
        length = view.segment_interval
        with self.lock:
            return {start for start in self._segments.get(view.group.metadata.name, ())
                    if start <= end and begin < start + length}


def make_row(view, point):
    """The stored form of a point: its series and shard, values as they will be read back."""
    def value(name):
        tag = view.tag_by_name[name]
        return _stored_tag(point.tags.get((tag.family, tag.name)))

    entity = {name: value(name) for name in view.entity}
    indexed = {} if view.index_mode else {
        name: value(name) for name in view.rule_by_tag if name in view.tag_by_name and name not in entity}
    shard = shard_of(view.name, [value(name) for name in view.sharding_key], view.shard_num)
    series = Series(series_id(view.name, entity.values()), shard, entity, indexed)
    fields = {name: _stored_field(point.fields.get(name), kind) for name, kind in view.fields.items()}
    tags = {key: _stored_tag(sent) for key, sent in point.tags.items()}
    segment = point.timestamp // view.segment_interval * view.segment_interval
    return Row(series, point.timestamp, point.version, segment, tags, fields)


def _stored_tag(value):
    return None if value == () else value


def _stored_field(value, kind):
    return _FIELD_NULL.get(kind) if value is None else value
