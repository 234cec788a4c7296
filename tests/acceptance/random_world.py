# SPDX-License-Identifier: Apache-2.0
"""Random schemas, rows and requests, all from one seed.

A world has one to three groups that know a measure of one name, with tags and fields that differ from group to
group, in type, too. Its rows are of two times:

    before    copies lie where they like; of rewritten rows old versions lie on other nodes than the new one
    after     each row lies on the nodes of its shard and nowhere else, and no number is too big to be added exactly

so that partials of nodes may be combined for what comes after, in groups without replicas, and for nothing else.
"""
import dataclasses
import math
import time

from awkward import MINUTE, Point, _binding, _families, _row_document, _rule
from client import rfc3339
from random_criteria import Criteria

MEASURE = "m"
GROUPS = ("ga", "gb", "gc")
BEFORE, AFTER = range(-14, -2), range(12, 22)     # minutes from now
FUNCTIONS = [f"AGGREGATION_FUNCTION_{name}" for name in ("SUM", "COUNT", "MIN", "MAX", "MEAN")]

OPTIONAL_TAGS = {("default", "zone"): ["STRING"], ("default", "code"): ["INT", "INT", "STRING"],
                 ("extra", "raw"): ["DATA_BINARY"], ("extra", "names"): ["STRING_ARRAY"],
                 ("extra", "ports"): ["INT_ARRAY"]}
TAG_VALUES = {"STRING": [None, "", "z0", "z1", "Zz", "0"], "INT": [None, 0, -1, 7, 2**63 - 1, -2**63],
              "DATA_BINARY": [None, b"", b"\x00", b"z0"], "STRING_ARRAY": [None, ("a",), ("a", "b"), ("",)],
              "INT_ARRAY": [None, (1,), (1, 2), (-1,)]}
WILD_FLOATS = [None, 0.0, -0.0, 0.1, -2.5, 1e308, -1e308, 1e-300, math.inf, -math.inf, math.nan]
WILD_INTS = [None, 0, 1, -1, 12345, 2**62, -2**62, 2**63 - 1, -2**63]
TEXTS = [None, "", "text"]


@dataclasses.dataclass
class Batch:
    group: str
    nodes: list      # None: by placement
    points: list
    counts: bool     # rows that stay; those of other batches are written over later

    def rows(self):
        """For the control port's command `write`."""
        return [{**_row_document(point), "timestamp": rfc3339(point.timestamp // 1_000_000)} for point in self.points]


class World:
    def __init__(self, random, nodes, now=None):
        self.random, self.node_names = random, [f"d{number + 1}" for number in range(nodes)]
        self.now = (now or time.time_ns()) // MINUTE * MINUTE
        self.groups = list(GROUPS[:random.choice([1, 2, 2, 3])])
        self.replicas = {group: random.choice([0, 0, 1, 2]) for group in self.groups}
        self.entity = random.choice([["svc"], ["svc"], ["svc", "num"]])
        self.tags = {group: self._tags() for group in self.groups}
        self.fields = {group: self._fields() for group in self.groups}
        self.analyzer = self.random.choice(["", "keyword", "simple", "url"])
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
        tags["idx", "rank"], tags["idx", "label"] = "INT", "STRING"
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
            families = {}
            for (family, tag), kind in self.tags[group].items():
                families.setdefault(family, {})[tag] = kind
            yield "measure", {"metadata": {"group": group, "name": MEASURE}, "tagFamilies": _families(families),
                              "fields": [{"name": field, "fieldType": f"FIELD_TYPE_{kind}",
                                          "encodingMethod": "ENCODING_METHOD_GORILLA",
                                          "compressionMethod": "COMPRESSION_METHOD_ZSTD"}
                                         for field, kind in self.fields[group].items()],
                              "entity": {"tagNames": self.entity}, "interval": "1m"}
            yield "indexRule", _rule(group, "rank")
            yield "indexRule", {**_rule(group, "label"), "analyzer": self.analyzer}
            yield "indexRuleBinding", _binding(group, MEASURE, ["rank", "label"])

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
        tags = {tag: shared[tag] if tag in shared else self.random.choice(TAG_VALUES[kind])
                for tag, kind in self._in_order(self.tags[group])}
        fields = {field: self._field(kind, minute) for field, kind in self.fields[group].items()}
        return Point(self.now + minute * MINUTE, tags, fields)

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

    def load(self, oracle):
        for kind, document in self._loaded:
            oracle.load(kind, document)
        for batch in self.batches:
            if batch.counts:
                oracle.write(batch.group, MEASURE, batch.points)

    def insert(self, nodes):
        """Into running sample nodes."""
        self._loaded = list(self.schemas())
        nodes.control(schema=[{"action": "insert", "kind": kind, "object": document}
                              for kind, document in self._loaded])
        nodes.control(write=[{"group": batch.group, "measure": MEASURE, "rows": batch.rows(), "nodes": batch.nodes}
                             for batch in self.batches])


# ---------------------------------------------------------------- requests

@dataclasses.dataclass
class Asked:
    document: dict
    refusal: str = ""      # what the error's text must contain; "" = there is an answer
    after: bool = False    # the range has only rows that lie where they were put first


class Asker:
    """Makes requests to a world."""

    def __init__(self, world):
        self.world, self.random, self.criteria = world, world.random, Criteria(world.random)

    def next(self):
        groups = self.random.sample(self.world.groups, self.random.randint(1, len(self.world.groups)))
        document = {"groups": groups, "name": MEASURE}
        begin, end = self._range()
        document["timeRange"] = {"begin": self._time(begin), "end": self._time(end)}
        self._project(document, groups)
        kind = self.random.choices(["rows", "first", "top", "agg"], [10, 20, 15, 55])[0]
        self._order(document)
        getattr(self, f"_{kind}")(document, groups)
        if kind == "rows" and begin > 0:
            self._page_of_rows(document)
        if self.random.random() < 0.25:
            document["criteria"] = self.criteria.tree()
        if self.random.random() < 0.12:
            document["trace"] = True
        asked = Asked(document, after=begin > 0)
        if self.random.random() < 0.06:
            self._spoil(asked, groups)
        return asked

    def _time(self, minute):
        return rfc3339((self.world.now + minute * MINUTE) // 1_000_000)

    def _range(self):
        """In minutes from now."""
        kind = self.random.random()
        if kind < 0.5:
            begin, end = sorted(self.random.choices([*BEFORE], k=2))
        elif kind < 0.8:
            begin, end = sorted(self.random.choices([*AFTER], k=2))
        elif kind < 0.95:
            begin, end = BEFORE[0], AFTER[-1]
        elif kind < 0.97:
            begin, end = AFTER[-1], BEFORE[0]
        else:
            begin, end = BEFORE[0] - 100, BEFORE[0] - 90
        return begin, end

    def _known(self, groups, what, everywhere):
        """Tags or fields of some or of all groups."""
        found = [what[group] for group in groups]
        names = dict.fromkeys(name for names in found for name in names)
        return [name for name in names if not everywhere or all(name in names for names in found)]

    def _project(self, document, groups):
        tags = self._known(groups, self.world.tags, len(groups) == 1)
        fields = self._known(groups, self.world.fields, len(groups) == 1)
        tags = self.random.sample(tags, self.random.randint(1, min(4, len(tags))))
        if self.random.random() < 0.1:
            tags += self.random.choices(tags, k=2)
        document["tagProjection"] = {"tagFamilies": by_family(tags)}
        if len(groups) == 1 and self.random.random() < 0.05:
            document["tagProjection"]["tagFamilies"].append({"name": "none", "tags": ["rank"]})
        document["fieldProjection"] = {"names": self.random.sample(fields, self.random.randint(1, len(fields)))}

    def _rows(self, document, groups):
        """Nodes cut rows, those without a sort key first, and a newer version may lie behind the cut."""
        document["limit"] = 100_000

    def _page_of_rows(self, document):
        """What nodes cut is what the answer cuts."""
        order = document.get("orderBy", {})
        if "indexRuleName" not in order or order["sort"] == "SORT_DESC":
            del document["limit"]
            self._page(document)

    def _page(self, document):
        if self.random.random() < 0.5:
            document["limit"] = self.random.choice([1, 2, 3, 5, 10, 1000, 2**32 - 1])
        if self.random.random() < 0.2:
            document["offset"] = self.random.choice([1, 2, 7, 40, 5000, 2**32 - 1])

    def _group_by(self, document, groups):
        known = self._known(groups, self.world.tags, True)
        family = self.random.choice(sorted({family for family, _ in known}))
        tags = [tag for of, tag in known if of == family]
        chosen = self.random.choices(tags, k=self.random.choice([1, 1, 1, 2, 2, 3]))
        document["groupBy"] = {"tagProjection": {"tagFamilies": [{"name": family, "tags": chosen}]}}

    def _first(self, document, groups):
        self._group_by(document, groups)
        if self.random.random() < 0.4:
            self._ranked(document, groups)
        self._page(document)

    def _ranked(self, document, groups):
        field = self.random.choice(self._known(groups, self.world.fields, False))
        document["top"] = self._best(field)

    def _best(self, field):
        return {"number": self.random.choice([0, 1, 2, 3, 5, 50]), "fieldName": field,
                "fieldValueSort": self.random.choice(["SORT_ASC", "SORT_DESC", "SORT_UNSPECIFIED"])}

    def _top(self, document, groups):
        self._ranked(document, groups)
        if document["top"]["number"] == 0:
            self._rows(document, groups)    # it ranks nothing
        else:
            self._page(document)

    def _agg(self, document, groups):
        field = self.random.choice(["n", "f"])
        document["agg"] = {"function": self.random.choice(FUNCTIONS), "fieldName": field}
        if self.random.random() < 0.8:
            self._group_by(document, groups)
        if self.random.random() < 0.4:
            document["top"] = self._best(field)
        if self.random.random() < 0.15:
            del document["fieldProjection"]
        if self.random.random() < 0.1:
            del document["tagProjection"]
        self._page(document)

    def _order(self, document):
        kind = self.random.random()
        if kind < 0.4:
            return
        document["orderBy"] = {"sort": self.random.choice(["SORT_ASC", "SORT_DESC", "SORT_UNSPECIFIED"])}
        if kind > 0.65:
            document["orderBy"]["indexRuleName"] = self.random.choice(["rank", "label"])

    # --------------------------------------------------------------- invalid

    def _spoil(self, asked, groups):
        """Makes the request one that is refused."""
        document = asked.document
        document.pop("criteria", None)
        if self.random.random() < 0.5:
            asked.refusal = self.random.choice([self._criteria, self._projection])(document, groups)
            return
        document.setdefault("agg", {"function": "AGGREGATION_FUNCTION_SUM", "fieldName": "n"})
        if document.get("top", {}).get("fieldName", document["agg"]["fieldName"]) != document["agg"]["fieldName"]:
            del document["top"]
        # Checked before agg and group_by, so it must be right for them to be looked at.
        spoilers = [self._no_field, self._no_function, self._odd_function, self._no_family, self._no_key,
                    self._two_families, self._no_keys, self._unknown_rule]
        if all("text" in self.world.fields[group] for group in groups):
            spoilers.append(self._text)
        asked.refusal = self.random.choice(spoilers)(document)

    def _criteria(self, document, _groups):
        document["criteria"], text = self.criteria.refused()
        return text

    def _projection(self, document, groups):
        if "agg" in document and len(groups) > 1:
            return self._criteria(document, groups)    # such names are left out
        if len(groups) == 1 and self.random.random() < 0.5 and "fieldProjection" in document:
            document["fieldProjection"]["names"].append("none")
            return "field none not found in schema"
        document.setdefault("tagProjection", {"tagFamilies": [{"name": "default", "tags": []}]})
        document["tagProjection"]["tagFamilies"][0]["tags"].append("none")
        return "none: tag is not defined"

    def _no_field(self, document):
        document["agg"]["fieldName"] = "none"
        return 'plan.Analyze: Agg field "none" not present in measure schema'

    def _no_function(self, document):
        del document["agg"]["function"]
        return "Agg.Function is UNSPECIFIED"

    def _odd_function(self, document):
        document["agg"]["function"] = 17
        return "unknown AggregationFunction 17"

    def _keys(self, document, *families):
        document["groupBy"] = {"tagProjection": {"tagFamilies": [{"name": name, "tags": tags}
                                                                 for name, tags in families]}}

    def _no_family(self, document):
        self._keys(document, ("none", ["svc"]))
        return 'plan.Analyze: GroupBy tag family "none" not present in measure schema'

    def _no_key(self, document):
        self._keys(document, ("idx", ["rank", "svc"]))
        return "plan.Analyze: GroupBy tag idx.svc not present in measure schema"

    def _two_families(self, document):
        self._keys(document, ("default", ["svc"]), ("idx", ["rank"]))
        return "GroupBy.tag_projection v1 supports a single tag family, got 2"

    def _no_keys(self, document):
        self._keys(document)
        return "GroupBy.tag_projection must list at least one tag family"

    def _unknown_rule(self, document):
        document["orderBy"] = {"indexRuleName": "none"}
        return "vec dispatch: parse order_by: none: index is not define for the tag"

    def _text(self, document):
        document["agg"]["fieldName"] = "text"
        document.pop("top", None)
        return "panic"


def by_family(tags):
    families = {}
    for family, tag in tags:
        families.setdefault(family, []).append(tag)
    return [{"name": family, "tags": members} for family, members in families.items()]
