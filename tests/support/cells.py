# SPDX-License-Identifier: Apache-2.0
"""Values of tags and fields as protobuf messages, and the keys by which an index sorts them.

None is null; str, int, float and bytes are themselves; an array is a tuple.
"""
import struct

from proto import message, nanoseconds

NULL = 0


def tag_of(value):
    """The TagValue of a Python value."""
    made = message("model.v1.TagValue")
    if value is None:
        made.null = NULL
    elif isinstance(value, bytes):
        made.binary_data = value
    elif isinstance(value, tuple):
        array = made.str_array if value and isinstance(value[0], str) else made.int_array
        array.value.extend(value)
        array.SetInParent()
    else:
        part = {int: made.int, str: made.str}[type(value)]
        part.value = value
        part.SetInParent()
    return made


def field_of(value):
    """The FieldValue of a Python value."""
    made = message("model.v1.FieldValue")
    if value is None:
        made.null = NULL
    elif isinstance(value, bytes):
        made.binary_data = value
    else:
        part = {int: made.int, float: made.float, str: made.str}[type(value)]
        part.value = value
        part.SetInParent()
    return made


def int_image(number):
    """8 bytes that sort as the number does."""
    return struct.pack(">Q", number + (1 << 63))


def index_key(value):
    """The bytes by which an index sorts a TagValue; None for null."""
    kind = value.WhichOneof("value")
    if kind in (None, "null"):
        return None
    if kind == "int":
        return int_image(value.int.value)
    if kind == "str":
        return value.str.value.encode("utf-8", "surrogateescape")
    if kind == "binary_data":
        return value.binary_data
    if kind == "str_array":
        return "\n".join(value.str_array.value).encode()
    if kind == "int_array":
        return b"".join(map(int_image, value.int_array.value))
    return int_image(nanoseconds(value.timestamp))
