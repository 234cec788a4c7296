# SPDX-License-Identifier: Apache-2.0
"""What becomes of merged rows: the first of each group, the best by a field. For the reference, which
computes answers from frames; cells come with the type of their column."""
import math

from proto import parse

TAG_VALUE, FIELD_VALUE = 5, 6
ASC = 2


def key_part(kind, cell, null_apart):
    """What tells the groups of two cells apart: null from 0 and "" only when asked to."""
    if kind != TAG_VALUE:
        return (cell is None, cell) if null_apart else cell or None
    value = parse("model.v1.TagValue", cell) if cell else None
    variant = value.WhichOneof("value") if value else None
    if null_apart:
        if variant in ("str", "int"):
            return False, getattr(value, variant).value
        if variant == "binary_data":
            return False, value.binary_data
        return variant in (None, "null"), value.SerializeToString() if variant not in (None, "null") else None
    if variant in ("str", "int"):
        content = getattr(value, variant).value
        return content.encode() if variant == "str" else content
    return value.binary_data if variant == "binary_data" else None


def number_of(kind, cell):
    """The number of a field's cell, None for everything else."""
    if kind == FIELD_VALUE and cell is not None:
        value = parse("model.v1.FieldValue", cell)
        variant = value.WhichOneof("value")
        cell = getattr(value, variant).value if variant in ("int", "float") else None
    return cell if isinstance(cell, (int, float)) else None


def rank(number):
    """Sorts null before NaN before numbers."""
    if number is None:
        return 0, 0
    return (1, 0) if math.isnan(number) else (2, number)


def first_of_groups(rows):
    """The first row of each key, in the order of the rows."""
    seen = {}
    for row in rows:
        seen.setdefault(row.keys, row)
    return list(seen.values())


def best(rows, top, number):
    """The best rows, best first; of equals the first. `number(row)` is what they are ranked by."""
    if top.number <= 0:
        return rows
    ranked = sorted(rows, key=lambda row: rank(number(row)), reverse=top.field_value_sort != ASC)
    return ranked[:top.number]
