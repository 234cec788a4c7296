# SPDX-License-Identifier: Apache-2.0
"""The table a node answers with: columns of roles and types, not yet bytes. frame3.py and frame4.py write it."""
import struct
from dataclasses import dataclass, field

MAGIC = b"\x00VFR"

ROLE_TIMESTAMP, ROLE_VERSION, ROLE_SERIES, ROLE_SHARD, ROLE_TAG, ROLE_FIELD = 1, 2, 3, 4, 5, 6
INT64, FLOAT64, STRING, BYTES, TAG_VALUE, FIELD_VALUE = 1, 2, 3, 4, 5, 6
FIXED_WIDTH = {INT64: "q", FLOAT64: "d"}     # struct codes of the types that are 8 bytes wide


@dataclass
class Column:
    """One column. Cells are int, float, str or bytes by type; None sets the cell's null bit."""
    role: int
    type: int
    name: str = ""
    family: str = ""
    cells: list = field(default_factory=list)


@dataclass
class Frame:
    rows: int
    columns: list


def fixed_width(kind, cells):
    """The values of an int64 or float64 column; a null is stored as 8 zero bytes."""
    return struct.pack(f"<{len(cells)}{FIXED_WIDTH[kind]}", *(0 if cell is None else cell for cell in cells))


def raw_bytes(cell):
    """The stored bytes of a variable-width cell. Strings may carry bytes that are not UTF-8 as surrogates."""
    if cell is None:
        return b""
    return cell.encode("utf-8", "surrogateescape") if isinstance(cell, str) else cell


def bitmap(flags):
    """Packs booleans, the first one in the lowest bit of the first byte."""
    packed = bytearray((len(flags) + 7) // 8)
    for index, flag in enumerate(flags):
        if flag:
            packed[index >> 3] |= 1 << (index & 7)
    return bytes(packed)
