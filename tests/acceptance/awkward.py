# SPDX-License-Identifier: Apache-2.0
"""A small data set of awkward values: nulls, empty strings, arrays, bytes, NaN, rewritten rows, two groups
that know a measure of one name with different tags and fields, and a measure in index mode.

It is written as a folder in the form of the acceptance suite, from which the sample nodes load it, and
loaded into the oracle from the same tables.
"""
import base64
import collections
import json
import math
import pathlib
import zlib

MINUTE = 60_000_000_000
T0 = 1_772_438_400_000_000_000   # 2026-03-02T08:00:00Z, the present of the sample nodes' suites
MINUTES = 10

Point = collections.namedtuple("Point", "timestamp tags fields")

TAGS = {"east": {"default": {"svc": "STRING", "zone": "STRING"},
                 "extra": {"ports": "INT_ARRAY", "names": "STRING_ARRAY", "raw": "DATA_BINARY"},
                 "idx": {"rank": "INT", "label": "STRING"}},
        "west": {"default": {"svc": "STRING"},
                 "extra": {"names": "STRING_ARRAY"},
                 "idx": {"rank": "INT", "label": "STRING"}}}
FIELDS = {"east": {"n": "INT", "f": "FLOAT", "text": "STRING", "blob": "DATA_BINARY"},
          "west": {"n": "INT", "f": "FLOAT"}}
DEVICE_TAGS = {"default": {"device": "STRING", "name": "STRING", "floor": "INT"}}
REPLICAS = {"east": 1, "west": 0}
SHARDS = {"east": 2, "west": 3}

LABELS = [None, "", "alpha", "beta", "alpha", "Zeta", "ÄÖ", None]
RANKS = [0, -3, 7, 7, 2**63 - 2, -(2**63), None, 1]
ARRAYS = [(80,), (80, 443), None, (), (-1, 0, 1), (2**63 - 1,), (5, 5), (7,)]
NAMES = [("a", "b"), None, ("",), (), ("x",), ("y", "ü"), ("a", "b"), ("z",)]
FLOATS = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e-300, 1.5, None]
TEXTS = ["plain", "", None, "Ünï\n\t\"q\"", "x" * 300, "0", " ", "end"]
BYTES = [b"\x00\xff", b"", None, b"abc", bytes(range(64)), b"\xc3\x28", b"1", b"2"]


def _families(tags):
    return [{"name": family, "tags": [{"name": name, "type": f"TAG_TYPE_{kind}"} for name, kind in members.items()]}
            for family, members in tags.items()]


def _measure(group, name, entity, tags, fields, **more):
    return {"metadata": {"group": group, "name": name}, "tagFamilies": _families(tags),
            "fields": [{"name": field, "fieldType": f"FIELD_TYPE_{kind}",
                        "encodingMethod": "ENCODING_METHOD_GORILLA",
                        "compressionMethod": "COMPRESSION_METHOD_ZSTD"} for field, kind in fields.items()],
            "entity": {"tagNames": [entity]}, "interval": "1m", **more}


def _rule(group, tag):
    return {"metadata": {"group": group, "name": tag, "id": zlib.crc32(tag.encode())}, "tags": [tag],
            "type": "TYPE_INVERTED"}


def _binding(group, measure, rules):
    return {"metadata": {"group": group, "name": f"{measure}-rules"}, "rules": rules,
            "subject": {"catalog": "CATALOG_MEASURE", "name": measure},
            "beginAt": "2021-04-15T01:30:15.01Z", "expireAt": "2121-04-15T01:30:15.01Z"}


def schemas():
    """(kind, proto JSON) pairs, groups first."""
    day = {"unit": "UNIT_DAY", "num": 1}
    found = [("group", {"metadata": {"name": group}, "catalog": "CATALOG_MEASURE",
                        "resourceOpts": {"shardNum": SHARDS[group], "replicas": REPLICAS[group],
                                         "segmentInterval": day, "ttl": {"unit": "UNIT_DAY", "num": 7}}})
             for group in TAGS]
    for group in TAGS:
        found += [("measure", _measure(group, "reading", "svc", TAGS[group], FIELDS[group])),
                  ("indexRule", _rule(group, "rank")), ("indexRule", _rule(group, "label")),
                  ("indexRuleBinding", _binding(group, "reading", ["rank", "label"]))]
    found += [("measure", _measure("west", "device", "device", DEVICE_TAGS, {}, indexMode=True)),
              ("indexRule", _rule("west", "floor")), ("indexRule", _rule("west", "name")),
              ("indexRuleBinding", _binding("west", "device", ["floor", "name"]))]
    return found


def _reading(group, number, minute, rewritten):
    tags = {"svc": f"s{number}", "zone": f"z{number % 3}", "ports": ARRAYS[number], "names": NAMES[number],
            "raw": BYTES[(number + minute) % 8], "rank": RANKS[number], "label": LABELS[number]}
    fields = {"n": 1000 * number + minute + (500 if rewritten else 0), "f": FLOATS[(number + minute) % 8],
              "text": TEXTS[(number + minute) % 8], "blob": BYTES[(number + 2 * minute) % 8]}
    if number == 3 and minute % 2:
        fields["n"] = None
    known = {(family, name): tags[name] for family, members in TAGS[group].items() for name in members}
    return Point(T0 - (MINUTES - 1 - minute) * MINUTE, known, {name: fields[name] for name in FIELDS[group]})


def writes():
    """(group, measure, points) in the order of writing; the points of a write are a minute apart, the last at T0."""
    for group in TAGS:
        for number in range(8):
            yield group, "reading", [_reading(group, number, minute, False) for minute in range(MINUTES)]
        for number in (1, 4):   # the whole series again: these rows replace the first ones
            yield group, "reading", [_reading(group, number, minute, True) for minute in range(MINUTES)]
    for number in range(12):
        tags = {("default", "device"): f"dev-{number:02d}", ("default", "name"): f"name {number % 5}",
                ("default", "floor"): None if number == 5 else number % 4 - 1}
        yield "west", "device", [Point(T0, tags, {})]


def load(target):
    """Into an oracle."""
    for kind, document in schemas():
        target.load(kind, document)
    for group, measure, points in writes():
        target.write(group, measure, points)


# ------------------------------------------------- as a folder of the suite

FOLDERS = {"group": "groups", "measure": "measures", "indexRule": "index_rules",
           "indexRuleBinding": "index_rule_bindings"}


def _tag_document(value):
    if value is None:
        return {"null": None}
    if isinstance(value, tuple):
        kind = "strArray" if value and isinstance(value[0], str) else "intArray"
        return {kind: {"value": list(value)}}
    if isinstance(value, bytes):
        return {"binaryData": base64.b64encode(value).decode()}
    return {"int" if isinstance(value, int) else "str": {"value": value}}


def _field_document(value):
    if value is None:
        return {"null": None}
    if isinstance(value, bytes):
        return {"binaryData": base64.b64encode(value).decode()}
    kind = {int: "int", float: "float", str: "str"}[type(value)]
    if isinstance(value, float) and not math.isfinite(value):
        value = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(value)]
    return {kind: {"value": value}}


def _row_document(point):
    families = {}
    for (family, _), value in point.tags.items():
        families.setdefault(family, []).append(_tag_document(value))
    return {"tagFamilies": [{"tags": tags} for tags in families.values()],
            "fields": [_field_document(value) for value in point.fields.values()]}


def write_folder(folder):
    """Writes the data set for `tests/datanode --suite FOLDER`."""
    folder = pathlib.Path(folder)
    for number, (kind, document) in enumerate(schemas()):
        where = folder / "schemas" / FOLDERS[kind]
        where.mkdir(parents=True, exist_ok=True)
        (where / f"{number:03d}.json").write_text(json.dumps(document))
    manifest = {"schema_load_order": list(FOLDERS.values()), "writes": []}
    (folder / "data").mkdir()
    for order, (group, measure, points) in enumerate(writes()):
        file = f"data/{order:03d}.json"
        (folder / file).write_text(json.dumps(list(map(_row_document, points))))
        manifest["writes"].append({"order": order, "group": group, "measure": measure, "data_file": file,
                                   "base_offset_ms": 0, "interval_ms": MINUTE // 1_000_000,
                                   "data_point_spec": None})
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder
