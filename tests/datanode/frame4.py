# SPDX-License-Identifier: Apache-2.0
"""Wire version 4 of the frame: 8-byte aligned blocks, offsets, validity where there are nulls, constant columns."""
import struct
from itertools import accumulate

from frame import FIXED_WIDTH, MAGIC, bitmap, fixed_width, raw_bytes

VERSION = 4
HAS_VALIDITY, IS_CONSTANT = 1, 2
EXPANSION_BUDGET = 256 << 20    # what a reader may be made to expand the constant columns of one frame to


def _padded(data):
    return data + bytes(-len(data) % 8)


def _same(cells):
    first = cells[0]
    if isinstance(first, float):    # compared as bits: NaN repeats itself, -0.0 is not 0.0
        bits = struct.pack("<d", first)
        return all(cell is not None and struct.pack("<d", cell) == bits for cell in cells)
    return all(cell == first for cell in cells)


def _expansion(column, rows):
    width = 8 if column.type in FIXED_WIDTH else 16 + len(raw_bytes(column.cells[0]))
    return rows * width


def _buffers(column, cells):
    """The offsets block (padded) and the values (not padded) of the stored cells."""
    if column.type in FIXED_WIDTH:
        return b"", fixed_width(column.type, cells)
    stored = [raw_bytes(cell) for cell in cells]
    offsets = list(accumulate(map(len, stored), initial=0))
    return _padded(struct.pack(f"<{len(offsets)}i", *offsets)), b"".join(stored)


def _encode_column(column, constant):
    cells = column.cells[:1] if constant else column.cells
    nulls = sum(cell is None for cell in cells)
    name, family = column.name.encode(), column.family.encode()
    offsets, values = _buffers(column, cells)
    flags = (HAS_VALIDITY if nulls else 0) | (IS_CONSTANT if constant else 0)
    head = struct.pack("<BBBBHHII", column.role, column.type, flags, 0, len(name), len(family), nulls, len(values))
    validity = _padded(bitmap([cell is not None for cell in cells])) if nulls else b""
    return head + _padded(name + family) + validity + offsets + _padded(values)


def encode(frame, constants=True):
    """The frame's bytes. With `constants`, columns that repeat one value are sent once, within the budget."""
    parts = [MAGIC, bytes([VERSION, 0, 0, 0]), struct.pack("<II", frame.rows, len(frame.columns))]
    left = EXPANSION_BUDGET
    for column in frame.columns:
        cost = _expansion(column, frame.rows) if frame.rows else 0
        constant = constants and frame.rows > 0 and cost <= left and _same(column.cells)
        left -= cost if constant else 0
        parts.append(_encode_column(column, constant))
    return b"".join(parts)
