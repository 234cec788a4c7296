# SPDX-License-Identifier: Apache-2.0
"""The program's .proto files and those of the sample nodes were written apart: what both know must agree."""
import pytest

from proto import CONTRACT, ROOT, descriptor_set


def fields(*folders):
    """{message: {number: (name, type, repeated, message or enum type)}}, and likewise enums."""
    found = {}
    for file in descriptor_set(*folders).file:
        if file.package.startswith(("banyandb.", "grpc.")):
            for message in file.message_type:
                add_message(found, f"{file.package}.{message.name}", message)
            for enum in file.enum_type:
                found[f"{file.package}.{enum.name}"] = {value.number: value.name for value in enum.value}
    return found


def add_message(found, name, message):
    found[name] = {field.number: (field.name, field.type, field.label == field.LABEL_REPEATED, field.type_name)
                   for field in message.field}
    for nested in message.nested_type:
        add_message(found, f"{name}.{nested.name}", nested)
    for enum in message.enum_type:
        found[f"{name}.{enum.name}"] = {value.number: value.name for value in enum.value}


OURS, THEIRS = fields(ROOT / "proto"), fields(*CONTRACT)


@pytest.mark.parametrize("name", sorted(OURS.keys() & THEIRS.keys()))
def test_agrees(name):
    for number in OURS[name].keys() & THEIRS[name].keys():
        assert OURS[name][number] == THEIRS[name][number], number


def test_the_core_is_known_to_both():
    core = {"banyandb.measure.v1.QueryRequest", "banyandb.measure.v1.QueryResponse", "banyandb.cluster.v1.SendRequest",
            "banyandb.cluster.v1.SendResponse", "banyandb.model.v1.TagValue", "banyandb.model.v1.FieldValue"}
    assert core <= OURS.keys() & THEIRS.keys()
    for name in core:
        assert OURS[name].keys() == THEIRS[name].keys(), name
