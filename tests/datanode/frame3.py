# SPDX-License-Identifier: Apache-2.0
"""Wire version 3 of the frame: null bitmaps and length-prefixed strings, nothing aligned."""
import struct

from frame import FIXED_WIDTH, MAGIC, STRING, Column, Frame, bitmap, fixed_width, raw_bytes

VERSION = 3


class FrameError(ValueError):
    """Bytes that are no version 3 frame."""


def uvarint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _prefixed(data):
    return uvarint(len(data)) + data


def _encode_column(column):
    parts = [bytes([column.role, column.type]), _prefixed(column.name.encode()), _prefixed(column.family.encode()),
             bitmap([cell is None for cell in column.cells])]
    if column.type in FIXED_WIDTH:
        parts.append(fixed_width(column.type, column.cells))
    else:
        parts.extend(_prefixed(raw_bytes(cell)) for cell in column.cells)
    return b"".join(parts)


def encode(frame):
    head = MAGIC + bytes([VERSION]) + uvarint(frame.rows) + uvarint(len(frame.columns))
    return head + b"".join(_encode_column(column) for column in frame.columns)


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise FrameError(f"{count} bytes wanted at {self.at}, {len(self.data) - self.at} left")
        self.at += count
        return self.data[self.at - count:self.at]

    def uvarint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7


def _decode_cells(reader, kind, rows):
    nulls = reader.take((rows + 7) // 8)
    if kind in FIXED_WIDTH:
        cells = struct.unpack(f"<{rows}{FIXED_WIDTH[kind]}", reader.take(8 * rows))
    else:
        cells = [reader.take(reader.uvarint()) for _ in range(rows)]
        if kind == STRING:
            cells = [cell.decode("utf-8", "surrogateescape") for cell in cells]
    return [None if nulls[row >> 3] >> (row & 7) & 1 else cell for row, cell in enumerate(cells)]


def decode(data):
    """Reads a frame back, so that a recorded answer can be sent again in another version."""
    reader = _Reader(data)
    if reader.take(5) != MAGIC + bytes([VERSION]):
        raise FrameError("not a version 3 frame")
    rows, count = reader.uvarint(), reader.uvarint()
    columns = []
    for _ in range(count):
        role, kind = reader.take(2)
        name, family = (reader.take(reader.uvarint()).decode() for _ in range(2))
        columns.append(Column(role, kind, name, family, _decode_cells(reader, kind, rows)))
    if reader.at != len(data):
        raise FrameError(f"{len(data) - reader.at} bytes after the last column")
    return Frame(rows, columns)
