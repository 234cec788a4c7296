# SPDX-License-Identifier: Apache-2.0
"""Lays records out as the columns of a frame: which columns, in which order, and of which type."""
from frame import (BYTES, FIELD_VALUE, FLOAT64, INT64, ROLE_FIELD, ROLE_SERIES, ROLE_SHARD, ROLE_TAG, ROLE_TIMESTAMP,
                   ROLE_VERSION, STRING, TAG_VALUE, Column, Frame)
from plan import MEAN, QueryError
from schema import FIELD_INT, TAG_BINARY, TAG_INT, TAG_INT_ARRAY, TAG_STRING, TAG_STRING_ARRAY
from values import field_cell, tag_cell, wrap_int64

_NATIVE = {int: INT64, float: FLOAT64, str: STRING, bytes: BYTES}
_KEY_TYPES = {TAG_STRING: STRING, TAG_INT: INT64, TAG_BINARY: BYTES}
_ARRAY_WORDS = {TAG_STRING_ARRAY: "string[]", TAG_INT_ARRAY: "int64[]"}


def to_frame(plan, records):
    """The Frame of an answer, or None where the node leaves the body out."""
    if plan.hidden:
        return _hidden_frame(plan, records) if records else None
    columns = _partial_metadata(plan, records) if plan.aggregates else _row_metadata(records)
    for index, tag in enumerate(plan.tags):
        columns.append(_tag_column(plan, tag, [record.tags[index] for record in records]))
    for index, name in enumerate(_field_names(plan)):
        columns.append(_field_column(plan, name, [record.fields[index] for record in records]))
    return Frame(len(records), columns)


def _field_names(plan):
    if not plan.aggregates:
        return plan.fields
    name = plan.request.agg.field_name
    return [name, name + "__agg_count"] if plan.partial and plan.request.agg.function == MEAN else [name]


def _row_metadata(records):
    return [Column(ROLE_TIMESTAMP, INT64, cells=[record.timestamp for record in records]),
            Column(ROLE_VERSION, INT64, cells=[record.version for record in records]),
            Column(ROLE_SERIES, INT64, cells=[wrap_int64(record.series) for record in records]),
            Column(ROLE_SHARD, INT64, cells=[record.shard for record in records])]


def _partial_metadata(plan, records):
    shards = Column(ROLE_SHARD, INT64, "shard_id", cells=[record.shard for record in records])
    return [shards] if plan.partial else []


def _tag_column(plan, tag, cells):
    if tag.key:
        kind = plan.view.tag_by_key[tag.family, tag.name].type
        if kind not in _KEY_TYPES:
            raise QueryError(f"vec raw-frame emit: vectorized.frame: unsupported column type: {_ARRAY_WORDS[kind]}")
        return Column(ROLE_TAG, _KEY_TYPES[kind], tag.name, tag.family, cells)
    kind = _content_type(cells, TAG_VALUE)
    cells = list(map(tag_cell, cells)) if kind == TAG_VALUE else cells
    return Column(ROLE_TAG, kind, tag.name, tag.family, cells)


def _field_column(plan, name, cells):
    if plan.aggregates:
        kind = INT64 if plan.view.fields[plan.request.agg.field_name] == FIELD_INT else FLOAT64
        return Column(ROLE_FIELD, kind, name, cells=cells)
    kind = _content_type(cells, FIELD_VALUE)
    cells = list(map(field_cell, cells)) if kind == FIELD_VALUE else cells
    return Column(ROLE_FIELD, kind, name, cells=cells)


def _content_type(cells, fallback):
    """The type all values share. Without values, with arrays or with several types the cells stay protobuf."""
    found = {_NATIVE.get(type(cell), fallback) for cell in cells if cell is not None}
    return found.pop() if len(found) == 1 else fallback


def _hidden_frame(plan, records):
    """The layout of answers whose criteria read a tag that is not shown: named metadata first, cells as protobuf."""
    columns = [Column(ROLE_SHARD, INT64, "shard_id", cells=[record.shard for record in records]),
               Column(ROLE_TIMESTAMP, INT64, "_timestamp", cells=[record.timestamp for record in records]),
               Column(ROLE_VERSION, INT64, "_version", cells=[record.version for record in records]),
               Column(ROLE_SERIES, INT64, "_sid", cells=[wrap_int64(record.series) for record in records])]
    families = list(dict.fromkeys(tag.family for tag in plan.tags))
    grouped = sorted(range(len(plan.tags)), key=lambda index: families.index(plan.tags[index].family))
    for index in grouped:
        tag = plan.tags[index]
        cells = [tag_cell(record.tags[index]) for record in records]
        columns.append(Column(ROLE_TAG, TAG_VALUE, tag.name, tag.family, cells))
    for index, name in enumerate(_field_names(plan)):
        cells = [field_cell(record.fields[index]) for record in records]
        columns.append(Column(ROLE_FIELD, FIELD_VALUE, name, cells=cells))
    return Frame(len(records), columns)
