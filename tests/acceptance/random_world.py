# SPDX-License-Identifier: Apache-2.0
"""Random schemas and rows, all from one seed; random_asker.py asks for them.

A world has one to three groups that know a measure of one name, with tags and fields that differ from group to
group, in type, too. Its rows are of two times:

    before    copies lie where they like; of rewritten rows old versions lie on other nodes than the new one
    after     each row lies on the nodes of its shard and nowhere else, and no number is too big to be added exactly

so that partials of nodes may be combined for what comes after, in groups without replicas, and for nothing else.
A second measure is in index mode: a row for each series, where it belongs.
"""
import dataclasses
import math
import time

from awkward import MINUTE, Point, _binding, _families, _row_document, _rule
from client import rfc3339

MEASURE, DEVICE, BEST = "m", "d", "best"
GROUPS = ("ga", "gb", "gc")
BEFORE, AFTER = range(-14, -2), range(12, 22)     # minutes from now
FUNCTIONS = [f"AGGREGATION_FUNCTION_{name}" for name in ("SUM", "COUNT", "MIN", "MAX", "MEAN")]

OPTIONAL_TAGS = {("default", "zone"): ["STRING"], ("default", "code"): ["INT", "INT", "STRING"],
                 ("extra", "zone"): ["STRING"],
                 ("extra", "raw"): ["DATA_BINARY"], ("extra", "names"): ["STRING_ARRAY"],
                 ("extra", "ports"): ["INT_ARRAY"]}
TAG_VALUES = {"STRING": [None, "", "z0", "z1", "Zz", "0"], "INT": [None, 0, -1, 7, 2**63 - 1, -2**63],
              "DATA_BINARY": [None, b"", b"\x00", b"z0"], "STRING_ARRAY": [None, ("a",), ("a", "b"), ("",)],
              "INT_ARRAY": [None, (1,), (1, 2), (-1,)]}
WILD_FLOATS = [None, 0.0, -0.0, 0.1, -2.5, 1e308, -1e308, 1e-300, math.inf, -math.inf, math.nan]
WILD_INTS = [None, 0, 1, -1, 12345, 2**62, -2**62, 2**63 - 1, -2**63]
TEXTS = [None, "", "text"]
SHARED = [("default", "svc"), ("default", "num"), ("idx", "rank"), ("idx", "label")]    # by the rows of a series


@dataclasses.dataclass
class Batch:
    group: str
    nodes: list      # None: by placement
    points: list
    counts: bool     # rows that stay; those of other batches are written over later
    measure: str = MEASURE

    def rows(self):
        """For the control port's command `write`."""
        return [{**_row_document(point), "timestamp": rfc3339(point.timestamp // 1_000_000)} for point in self.points]


class World:
    def __init__(self, random, nodes, now=None):
        self.random, self.node_names = random, [f"d{number + 1}" for number in range(nodes)]
        self.now = (now or time.time_ns()) // MINUTE * MINUTE
        self.groups = list(GROUPS[:random.choice([1, 2, 2, 3])])
        self.replicas = {group: random.choice([0, 0, 0, 1, 2]) for group in self.groups}
        self.entity = random.choice([["svc"], ["svc"], ["svc", "num"]])
        self.tags = {group: self._tags() for group in self.groups}
        self.device_tags = {group: {tag: kind for tag, kind in self.tags[group].items() if tag in SHARED}
                            for group in self.groups}
        self.fields = {group: self._fields() for group in self.groups}
        self.analyzer = self.random.choice(["", "keyword", "simple", "url"])
        self.direction = self.random.choice(["SORT_UNSPECIFIED", "SORT_UNSPECIFIED", "SORT_DESC", "SORT_ASC"])
        self.series = self._series()
        self.batches = [batch for group in self.groups for batch in self._batches(group)]

    # ---------------------------------------------------------------- schema

    def _tags(self):
        tags = {("default", "svc"): "STRING"}
        if "num" in self.entity:
            tags["default", "num"] = "INT"
        for tag, kinds in OPTIONAL_TAGS.items():
            if self.random.random() < 0.7:
                tags[tag] = self.random.choice(kinds)
        tags["idx", "rank"], tags["idx", "label"] = self.random.choice(["INT", "INT", "INT", "STRING"]), "STRING"
        return tags

    def _fields(self):
        fields = {"n": self.random.choice(["INT", "INT", "INT", "FLOAT"]), "f": "FLOAT"}
        if self.random.random() < 0.5:
            fields["text"] = "STRING"
        return fields

    def schemas(self):
        """(kind, proto JSON) pairs, groups first."""
        day = {"unit": "UNIT_DAY", "num": 1}
        for group in self.groups:
            yield "group", {"metadata": {"name": group}, "catalog": "CATALOG_MEASURE",
                            "resourceOpts": {"shardNum": self.random.randint(1, 4), "replicas": self.replicas[group],
                                             "segmentInterval": day, "ttl": {"unit": "UNIT_DAY", "num": 7}}}
        for group in self.groups:
            yield "measure", self._measure(group, MEASURE, self.tags[group], self.fields[group])
            yield "measure", {**self._measure(group, DEVICE, self.device_tags[group], {}), "indexMode": True}
            yield "indexRule", _rule(group, "rank")
            yield "indexRule", {**_rule(group, "label"), "analyzer": self.analyzer}
            yield "indexRuleBinding", _binding(group, MEASURE, ["rank", "label"])
            yield "indexRuleBinding", _binding(group, DEVICE, ["rank", "label"])
            yield "topNAggregation", {
                "metadata": {"group": group, "name": BEST}, "sourceMeasure": {"group": group, "name": MEASURE},
                "fieldName": self.random.choice(["n", "f"]), "fieldValueSort": self.direction,
                "groupByTagNames": ["svc"], "countersNumber": 1000, "lruSize": 10}

    def _measure(self, group, name, tags, fields):
        families = {}
        for (family, tag), kind in tags.items():
            families.setdefault(family, {})[tag] = kind
        return {"metadata": {"group": group, "name": name}, "tagFamilies": _families(families),
                "fields": [{"name": field, "fieldType": f"FIELD_TYPE_{kind}", "encodingMethod": "ENCODING_METHOD_GORILLA",
                            "compressionMethod": "COMPRESSION_METHOD_ZSTD"} for field, kind in fields.items()],
                "entity": {"tagNames": self.entity}, "interval": "1m"}

    # ------------------------------------------------------------------ rows

    def _series(self):
        """The tags that all rows of a series share: its entity, and what is indexed."""
        services = [f"s{number}" for number in range(self.random.randint(1, 5))] + [self.random.choice(["", None, "t"])]
        numbers = [0, -1, 2**40] if "num" in self.entity else [None]
        return [{("default", "svc"): service, ("default", "num"): number,
                 ("idx", "rank"): self.random.choice([None, 0, -3, 7, 2**63 - 2]),
                 ("idx", "label"): self.random.choice([None, "", "alpha", "beta", "Zeta"])}
                for service in services for number in numbers]

    def _point(self, group, shared, minute):
        tags = {tag: _as_kind(shared[tag], kind) if tag in shared else self.random.choice(TAG_VALUES[kind])
                for tag, kind in self._in_order(self.tags[group])}
        fields = {field: self._field(kind, minute) for field, kind in self.fields[group].items()}
        return Point(self.now + minute * MINUTE, tags, fields)

    def _devices(self, group):
        for shared in self.series:
            tags = {tag: _as_kind(shared[tag], kind) for tag, kind in self._in_order(self.device_tags[group])}
            yield Point(self.now + self.random.choice([*BEFORE, *AFTER]) * MINUTE, tags, {})

    def _in_order(self, tags):
        """As the families of the schema have them."""
        families = list(dict.fromkeys(family for family, _ in tags))
        return sorted(tags.items(), key=lambda entry: families.index(entry[0][0]))

    def _field(self, kind, minute):
        if kind == "STRING":
            return self.random.choice(TEXTS)
        if self.random.random() < 0.15:
            return None
        if minute < 0 and self.random.random() < 0.4:
            return self.random.choice(WILD_FLOATS if kind == "FLOAT" else WILD_INTS)
        number = self.random.randint(-40, 400)
        return number / 4 if kind == "FLOAT" else number

    def _some_nodes(self):
        return sorted(self.random.sample(self.node_names, self.random.randint(1, len(self.node_names))))

    def _batches(self, group):
        """Old versions first, so that the later ones are newer."""
        placed, old, scattered = [], {}, {}
        for shared in self.series:
            for minute in [*BEFORE, *AFTER]:
                if self.random.random() < 0.45:
                    continue
                point = self._point(group, shared, minute)
                if minute > 0 or self.random.random() < 0.5:
                    placed.append(point)
                    continue
                scattered.setdefault(tuple(self._some_nodes()), []).append(point)
                if self.random.random() < 0.7:
                    old.setdefault(tuple(self._some_nodes()), []).append(self._point(group, shared, minute))
        yield from (Batch(group, list(nodes), points, False) for nodes, points in old.items())
        yield from (Batch(group, list(nodes), points, True) for nodes, points in scattered.items())
        if placed:
            yield Batch(group, None, placed, True)
        yield Batch(group, None, list(self._devices(group)), True, DEVICE)

    def load(self, oracle):
        for kind, document in self._loaded:
            oracle.load(kind, document)
        for batch in self.batches:
            if batch.counts:
                oracle.write(batch.group, batch.measure, batch.points)

    def insert(self, nodes):
        """Into running sample nodes."""
        self._loaded = list(self.schemas())
        nodes.control(schema=[{"action": "insert", "kind": kind, "object": document}
                              for kind, document in self._loaded])
        nodes.control(write=[{"group": batch.group, "measure": batch.measure, "rows": batch.rows(), "nodes": batch.nodes}
                             for batch in self.batches])


def _as_kind(value, kind):
    """A number where a group has it as a text."""
    return str(value) if isinstance(value, int) and kind == "STRING" else value
