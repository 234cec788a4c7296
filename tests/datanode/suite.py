# SPDX-License-Identifier: Apache-2.0
"""Loads a folder of the acceptance suite: its schemas in order, then its writes around T0."""
import json
import pathlib

from google.protobuf import json_format

from clock import MILLISECOND
from messages import measure, nanoseconds
from rows import Point
from values import from_field, from_tag

_KINDS = {"groups": "group", "measures": "measure", "index_rules": "indexRule",
          "index_rule_bindings": "indexRuleBinding", "topn_aggregations": "topNAggregation"}


def load(cluster, folder, t0, variant=None):
    """Loads schemas and rows into a cluster; t0 (ns) is the time that the suite calls now.

    A variant is a folder of `schemas` such as alt_replicated: its groups replace the usual ones, the rest comes on top.
    """
    folder = pathlib.Path(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    for part in manifest["schema_load_order"]:
        for path in _schema_files(folder / "schemas", part, variant):
            cluster.load(_KINDS[part], path.read_text())
    for write in sorted(manifest["writes"], key=lambda write: write["order"]):
        cluster.write(write["group"], write["measure"], _points(cluster, folder, write, t0))


def _schema_files(schemas, part, variant):
    usual = sorted((schemas / part).glob("*.json"))
    if not variant:
        return usual
    more = sorted((schemas / variant / part).glob("*.json"))
    if part == "groups":
        return more or sorted((schemas / variant).glob("*.json"))
    return usual + more


def _points(cluster, folder, write, t0):
    """The rows of one write; the last one lies on the base time, the others one interval apart before it."""
    view = cluster.catalog.measure(write["group"], write["measure"])
    rows = json.loads((folder / write["data_file"]).read_text())
    keys, fields = _order(view, write["data_point_spec"])
    for index, row in enumerate(rows):
        offset = write["base_offset_ms"] - (len(rows) - 1 - index) * write["interval_ms"]
        found = point(row, keys, fields)
        found.timestamp = t0 + offset * MILLISECOND
        yield found


def _order(view, spec):
    """Tag families (as lists of keys) and field names in the order in which the values of a row stand."""
    if spec:
        keys = [[(family["name"], tag) for tag in family["tag_names"]] for family in spec["tag_families"]]
        return keys, spec["field_names"]
    return schema_order(view), list(view.fields)


def schema_order(view):
    """The tag keys of each family, in schema order."""
    return [[(family.name, tag.name) for tag in family.tags] for family in view.measure.tag_families]


def point(row, keys, fields):
    """A Point from the JSON of a DataPointValue; missing trailing tags are null."""
    value = json_format.ParseDict(row, measure.DataPointValue())
    tags = {key: None for family in keys for key in family}
    for family, names in zip(value.tag_families, keys):
        tags.update(zip(names, map(from_tag, family.tags)))
    return Point(nanoseconds(value.timestamp), tags, dict(zip(fields, map(from_field, value.fields))), value.version)
