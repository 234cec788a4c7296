# SPDX-License-Identifier: Apache-2.0
"""Tag and field values as plain Python values, and their protobuf cells.

None is null, str, int, float and bytes are themselves, an array is a tuple. One table per direction, so that the
type of the Python value alone decides the variant on the wire.
"""
from messages import model

NULL_CELL = b"\x08\x00"     # the Null variant of both TagValue and FieldValue


def from_tag(message):
    """The Python value of a TagValue; a value without variant counts as null."""
    kind = message.WhichOneof("value")
    if kind in ("str", "int"):
        return getattr(message, kind).value
    if kind in ("str_array", "int_array"):
        return tuple(getattr(message, kind).value)
    if kind == "binary_data":
        return message.binary_data
    return None


def from_field(message):
    """The Python value of a FieldValue; a value without variant counts as null."""
    kind = message.WhichOneof("value")
    if kind in ("str", "int", "float"):
        return getattr(message, kind).value
    if kind == "binary_data":
        return message.binary_data
    return None


def to_tag(value):
    """The TagValue message of a Python value."""
    message = model.TagValue()
    if value is None:
        message.null = 0
    elif isinstance(value, str):
        message.str.value = value
        message.str.SetInParent()
    elif isinstance(value, int):
        message.int.value = value
        message.int.SetInParent()
    elif isinstance(value, bytes):
        message.binary_data = value
    else:
        array = message.str_array if isinstance(value[0], str) else message.int_array
        array.value.extend(value)
    return message


def to_field(value):
    """The FieldValue message of a Python value."""
    message = model.FieldValue()
    if value is None:
        message.null = 0
    elif isinstance(value, bytes):
        message.binary_data = value
    else:
        kind = {str: message.str, int: message.int, float: message.float}[type(value)]
        kind.value = value
        kind.SetInParent()
    return message


def tag_cell(value):
    """The bytes of a TagValue, as cells of column type 5 hold them."""
    return NULL_CELL if value is None else to_tag(value).SerializeToString()


def field_cell(value):
    """The bytes of a FieldValue, as cells of column type 6 hold them."""
    return NULL_CELL if value is None else to_field(value).SerializeToString()


def wrap_int64(value):
    """Two's complement wrap-around, as 64-bit sums behave on a node."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
