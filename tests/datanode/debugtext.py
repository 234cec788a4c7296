# SPDX-License-Identifier: Apache-2.0
"""Protobuf messages as the debug text that a node's error messages quote: `name:"id" op:BINARY_OP_EQ value:{...}`."""
import json


def _scalar(field, value):
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return named.name if named else str(value)
    if field.cpp_type == field.CPPTYPE_STRING:
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        return json.dumps(text, ensure_ascii=isinstance(value, bytes))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _field(field, value):
    if field.message_type is not None:
        return f"{field.name}:{{{debug_text(value)}}}"
    return f"{field.name}:{_scalar(field, value)}"


def debug_text(message):
    """The set fields of a message on one line, in field order."""
    parts = []
    for field, value in message.ListFields():
        repeated = field.label == field.LABEL_REPEATED
        parts.extend(_field(field, item) for item in (value if repeated else [value]))
    return " ".join(parts)
