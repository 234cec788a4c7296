# SPDX-License-Identifier: Apache-2.0
"""The id of a series: a hash of the measure's name and the values of its entity tags."""
import struct

import xxhash

STRING, INT = b"\x01", b"\x02"


def series_id(measure, values):
    """Values as in rows: str, int, or None for null."""
    return xxhash.xxh64_intdigest(_ended(measure.encode()) + b"".join(map(_part, values)))


def _ended(data):
    return data.replace(b"\\", b"\\\\").replace(b"|", b"\\|") + b"|"


def _part(value):
    if isinstance(value, int):
        zigzag = value * 2 if value >= 0 else -value * 2 - 1
        return INT + _ended(struct.pack(">Q", zigzag))
    return STRING + _ended((value or "").encode())
