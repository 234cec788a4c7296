# SPDX-License-Identifier: Apache-2.0
"""Answers of any size from memory, for load and for benchmarks: built once, then sent as the same bytes.

The named shapes are the workloads of the benchmarks: a few string tags of 44 bytes on average with 128 distinct
values each, an int field, and for the partials a group key and a sum.
"""
from dataclasses import dataclass, replace

from answers import encode
from clock import MINUTE
from frame import (FIELD_VALUE, INT64, ROLE_FIELD, ROLE_SERIES, ROLE_SHARD, ROLE_TAG, ROLE_TIMESTAMP, ROLE_VERSION,
                   STRING, TAG_VALUE, Column, Frame)
from frame3 import uvarint
from messages import measure, set_nanoseconds
from values import field_cell, tag_cell, to_field, to_tag, wrap_int64

DISTINCT = 128      # series of a node, and values of a tag
_BASE = 1_770_000_000 * 1_000_000_000
_MESSAGE_ID, _BODY = b"\x08", b"\x1a"     # the tags of SendResponse's first and third field


@dataclass(frozen=True)
class Shape:
    rows: int = 8192
    tags: int = 3
    unique: bool = False        # no timestamp twice, on this node or another
    cells: bool = False         # tags and fields as protobuf cells, column types 5 and 6
    partials: bool = False      # grouped SUM partials instead of rows
    distinct_keys: bool = False     # partials with other group keys on each node
    topn: bool = False          # an answer to TopN with so many items instead of rows


SHAPES = {
    "w1": Shape(20, 2), "w2": Shape(1000), "w2cut": Shape(100), "w3": Shape(), "w3u": Shape(unique=True),
    "w3p": Shape(cells=True), "w6": Shape(500, partials=True), "w6d": Shape(500, partials=True, distinct_keys=True),
    "w8": Shape(100, topn=True), "w9": Shape(100_000),
}


def shape_of(name="w3", **changes):
    """A named shape, with some of its figures replaced."""
    return replace(SHAPES[name], **changes)


def _text(kind, number):
    """A string of 24 to 64 bytes, 44 on average."""
    return f"{kind}-{number:04d}-".ljust(24 + number * 41 % 41 + number % 41, "abcdefgh"[number % 8])[:64]


def build(shape, node_number, nodes):
    """The Frame of one of several nodes."""
    if shape.partials:
        return _partials(shape, node_number)
    rows = range(shape.rows)
    series = [node_number * DISTINCT + row % DISTINCT for row in rows]
    step = [row * nodes + node_number if shape.unique else row // DISTINCT for row in rows]
    columns = [Column(ROLE_TIMESTAMP, INT64, cells=[_BASE + at * MINUTE for at in step]),
               Column(ROLE_VERSION, INT64, cells=[_BASE + row for row in rows]),
               Column(ROLE_SERIES, INT64, cells=[_series_id(number) for number in series]),
               Column(ROLE_SHARD, INT64, cells=[number % 2 for number in series])]
    for tag in range(shape.tags):
        texts = [_text(f"tag{tag}", number) for number in range(DISTINCT)]
        columns.append(_tag(shape, f"tag{tag}", [texts[row % DISTINCT] for row in rows]))
    columns.append(_field(shape, "value", [row * 7 % 1000 for row in rows]))
    return Frame(shape.rows, columns)


def _series_id(number):
    return wrap_int64((number + 1) * 0x9E3779B97F4A7C15 % (1 << 64))


def _partials(shape, node_number):
    first = node_number * shape.rows if shape.distinct_keys else 0
    keys = [f"service-{first + row:06d}" for row in range(shape.rows)]
    return Frame(shape.rows, [Column(ROLE_SHARD, INT64, "shard_id", cells=[node_number] * shape.rows),
                              Column(ROLE_TAG, STRING, "svc", "default", keys),
                              Column(ROLE_FIELD, INT64, "value", cells=list(range(shape.rows)))])


def _tag(shape, name, cells):
    if shape.cells:
        return Column(ROLE_TAG, TAG_VALUE, name, "default", list(map(tag_cell, cells)))
    return Column(ROLE_TAG, STRING, name, "default", cells)


def _field(shape, name, cells):
    if shape.cells:
        return Column(ROLE_FIELD, FIELD_VALUE, name, cells=list(map(field_cell, cells)))
    return Column(ROLE_FIELD, INT64, name, cells=cells)


def _topn_list(shape, node_number):
    """One list, other entities on each node, all of the same minute."""
    response = measure.TopNResponse()
    found = response.lists.add()
    for number in range(shape.rows):
        item = found.items.add(value=to_field(10_000 - number * 3 - node_number), version=_BASE)
        item.entity.add(key="svc").value.CopyFrom(to_tag(_text("service", node_number * shape.rows + number)))
        set_nanoseconds(item.timestamp, _BASE)
    return response.SerializeToString()


class Synthetic:
    """Answers every query of one topic with the same bytes. Only the message id differs."""

    def __init__(self, shape, node_number, nodes, frame_version, constants):
        self.topn = shape.topn
        body = _topn_list(shape, node_number) if shape.topn else encode(build(shape, node_number, nodes),
                                                                        frame_version, constants)
        self._tail = _BODY + uvarint(len(body)) + body
        self.size = len(body)

    def respond(self, message_id):
        return _MESSAGE_ID + uvarint(message_id) + self._tail
