# SPDX-License-Identifier: Apache-2.0
"""The two frame encoders, against examples and against independent decoders."""
import importlib.util
import math
import random
import struct

import pytest

import frame3
import frame4
from frame import (BYTES, FIELD_VALUE, FLOAT64, INT64, ROLE_FIELD, ROLE_SERIES, ROLE_SHARD, ROLE_TAG, ROLE_TIMESTAMP,
                   ROLE_VERSION, STRING, TAG_VALUE, Column, Frame)
from values import field_cell, tag_cell

EXAMPLE_3 = """00564652 03 02 06
01 01 00 00 00 00002a36fe9c9717 0058712e0c9d9717
02 01 00 00 00 0100000000000000 0100000000000000
03 01 00 00 00 2a00000000000000 2a00000000000000
04 01 00 00 00 0000000000000000 0000000000000000
05 03 03 737663 07 64656661756c74 02 01 61 00
06 01 05 746f74616c 00 00 0700000000000000 0900000000000000"""

EXAMPLE_4 = """00564652 04 000000 02000000 04000000
01 01 00 00 0000 0000 00000000 10000000   0100000000000000 0200000000000000
03 01 02 00 0000 0000 00000000 08000000   2a00000000000000
05 03 01 00 0300 0700 01000000 01000000   7376636465666175 6c74000000000000   0100000000000000
00000000 01000000 01000000 00000000   6100000000000000
06 02 01 00 0100 0000 01000000 10000000   7600000000000000   0100000000000000   000000000000f83f 0000000000000000"""


def test_version_3_example():
    first, second = struct.unpack("<qq", bytes.fromhex("00002a36fe9c97170058712e0c9d9717"))
    frame = Frame(2, [Column(ROLE_TIMESTAMP, INT64, cells=[first, second]), Column(ROLE_VERSION, INT64, cells=[1, 1]),
                      Column(ROLE_SERIES, INT64, cells=[42, 42]), Column(ROLE_SHARD, INT64, cells=[0, 0]),
                      Column(ROLE_TAG, STRING, "svc", "default", ["a", None]),
                      Column(ROLE_FIELD, INT64, "total", cells=[7, 9])])
    assert frame3.encode(frame) == bytes.fromhex(EXAMPLE_3)
    assert frame3.decode(frame3.encode(frame)) == frame


def test_version_4_example():
    frame = Frame(2, [Column(ROLE_TIMESTAMP, INT64, cells=[1, 2]), Column(ROLE_SERIES, INT64, cells=[42, 42]),
                      Column(ROLE_TAG, STRING, "svc", "default", ["a", None]),
                      Column(ROLE_FIELD, FLOAT64, "v", cells=[1.5, None])])
    assert frame4.encode(frame) == bytes.fromhex(EXAMPLE_4)


def test_a_constant_is_told_by_bits():
    def is_constant(*cells):
        encoded = frame4.encode(Frame(len(cells), [Column(ROLE_FIELD, FLOAT64, "v", cells=list(cells))]))
        return bool(encoded[18] & frame4.IS_CONSTANT)

    assert is_constant(math.nan, math.nan) and is_constant(None, None) and is_constant(1.0)
    assert not is_constant(0.0, -0.0) and not is_constant(1.0, None)


def test_constants_stop_at_the_budget(monkeypatch):
    monkeypatch.setattr(frame4, "EXPANSION_BUDGET", 4 * 8)
    columns = [Column(ROLE_SHARD, INT64, cells=[7] * 4), Column(ROLE_VERSION, INT64, cells=[7] * 4)]
    encoded = frame4.encode(Frame(4, columns))
    assert len(encoded) == 16 + (16 + 8) + (16 + 4 * 8)


def random_cells(source, kind, rows):
    make = {INT64: lambda: source.getrandbits(64) - (1 << 63), FLOAT64: lambda: source.uniform(-1e9, 1e9),
            STRING: lambda: "é" * source.randrange(5), BYTES: lambda: source.randbytes(source.randrange(9)),
            TAG_VALUE: lambda: tag_cell(source.choice([None, "a", 7, ("x", "y"), (1, -2), b"z", ""])),
            FIELD_VALUE: lambda: field_cell(source.choice([None, "a", 7, -0.0, b""]))}[kind]
    repeated = [make()] * rows
    return [None if source.random() < .2 else make() for _ in range(rows)] if source.random() < .7 else repeated


def random_frame(source):
    rows = source.choice([0, 1, 2, 7, 8, 9, 64, 100])
    pairs = [(ROLE_TIMESTAMP, INT64), (ROLE_SERIES, INT64)] + [
        (ROLE_TAG, source.choice([INT64, FLOAT64, STRING, BYTES, TAG_VALUE])) for _ in range(3)] + [
        (ROLE_FIELD, source.choice([INT64, FLOAT64, STRING, BYTES, FIELD_VALUE])) for _ in range(3)]
    return Frame(rows, [Column(role, kind, f"c{number}", "family" if role == ROLE_TAG else "",
                               random_cells(source, kind, rows)) for number, (role, kind) in enumerate(pairs)])


def test_version_3_reads_what_it_wrote():
    source = random.Random(3)
    for _ in range(200):
        frame = random_frame(source)
        assert repr(frame3.decode(frame3.encode(frame))) == repr(frame)


@pytest.fixture(scope="module")
def tools(shared):
    """The independent codecs beside the suite."""
    loaded = {}
    for name in ("frame_v3", "frame_v4"):
        spec = importlib.util.spec_from_file_location(name, shared / "tools" / f"{name}.py")
        loaded[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded[name])
    return loaded


def expanded(rows, column):
    values = column["values"] * rows if column["constant"] else column["values"]
    return [value.decode("utf-8", "surrogateescape") if column["type"] == STRING and value is not None else value
            for value in values]


def assert_version_4_holds(frame, encoded, decode):
    rows, columns = decode(encoded)
    assert rows == frame.rows
    for ours, theirs in zip(frame.columns, columns, strict=True):
        assert (ours.role, ours.type, ours.name, ours.family) == tuple(
            theirs[key] for key in ("role", "type", "name", "family"))
        assert repr(expanded(rows, theirs)) == repr(ours.cells)


@pytest.mark.parametrize("constants", [True, False])
def test_version_4_by_an_independent_decoder(tools, constants):
    source = random.Random(4)
    for _ in range(200):
        frame = random_frame(source)
        assert_version_4_holds(frame, frame4.encode(frame, constants), tools["frame_v4"].decode)


def test_version_4_writes_the_golden_frames(tools, shared):
    """Golden frames without a plain column that repeats its value come out byte by byte."""
    compared = 0
    for path in sorted((shared / "golden" / "frame-v4" / "good").glob("*.bin")):
        rows, columns = tools["frame_v4"].decode(path.read_bytes())
        frame = Frame(rows, [Column(column["role"], column["type"], column["name"], column["family"],
                                    expanded(rows, column)) for column in columns])
        if rows and any(not column["constant"] and len({repr(value) for value in column["values"]}) == 1
                        for column in columns):
            continue
        compared += 1
        assert frame4.encode(frame) == path.read_bytes(), path.name
    assert compared > 20


def test_recorded_frames_survive_in_both_versions(tools, shared):
    compared = 0
    for path in sorted((shared / "recorded" / "cases").glob("*/reply-*.body.bin")):
        body = path.read_bytes()
        if body[:1] != b"\x00":
            continue
        frame = frame3.decode(body)
        assert frame3.encode(frame) == body
        assert_version_4_holds(frame, frame4.encode(frame), tools["frame_v4"].decode)
        assert tools["frame_v3"].encode(tools["frame_v3"].decode(body)) == body
        compared += 1
    assert compared > 100
