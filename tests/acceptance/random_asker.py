# SPDX-License-Identifier: Apache-2.0
"""Random requests to a world (random_world.py): valid ones, and those that are refused."""
import dataclasses

from client import rfc3339
from random_criteria import Criteria
from random_world import AFTER, BEFORE, BEST, DEVICE, FUNCTIONS, MEASURE, MINUTE


@dataclasses.dataclass
class Asked:
    document: dict
    refusal: str = ""      # what the error's text must contain; "" = there is an answer
    after: bool = False    # the range has only rows that lie where they were put first
    topn: bool = False     # a TopNRequest


class Asker:
    """Makes requests to a world."""

    def __init__(self, world):
        self.world, self.random, self.criteria = world, world.random, Criteria(world.random, world.entity)
        self.tags, self.fields = world.tags, world.fields    # of the measure that is asked

    def next(self):
        groups = self.random.sample(self.world.groups, self.random.randint(1, len(self.world.groups)))
        if self.random.random() < 0.05:
            groups.append(self.random.choice(groups))    # asked once, with the columns of several groups
        devices = self.random.random() < 0.15
        self.tags = self.world.device_tags if devices else self.world.tags
        self.fields = dict.fromkeys(groups, {}) if devices else self.world.fields
        begin, end = self._range()
        document = {"groups": groups, "name": DEVICE if devices else MEASURE,
                    "timeRange": {"begin": self._about(begin), "end": self._about(end)}}
        self._project(document, groups)
        self._order(document)
        if devices:
            self._of_devices(document, groups)
        else:
            self._of_rows(document, groups, begin > 0)
        if self.random.random() < 0.25:
            document["criteria"] = self.criteria.tree()
        if self.random.random() < 0.12:
            document["trace"] = True
        asked = Asked(document, after=begin > 0)
        if self.random.random() < 0.06 and not devices:
            self._spoil(asked, groups)
        return asked

    def _of_rows(self, document, groups, after):
        kind = self.random.choices(["rows", "first", "top", "agg"], [10, 20, 15, 55])[0]
        getattr(self, f"_{kind}")(document, groups)
        if kind == "rows":
            self._page_of_rows(document, after)

    def _of_devices(self, document, groups):
        """In index mode nodes are asked for all rows."""
        if self.random.random() < 0.3:
            self._group_by(document, groups)
        self._page(document)

    def topn(self):
        """Over rows that are not written again: of others the lists of nodes tell old values, too."""
        groups = self.random.choices(self.world.groups, k=self.random.randint(1, len(self.world.groups) + 1))
        begin, end = sorted(self.random.choices([*AFTER], k=2))
        directions = ["SORT_DESC", "SORT_ASC"] if self.world.direction == "SORT_UNSPECIFIED" else [self.world.direction]
        document = {"groups": groups, "name": BEST, "timeRange": {"begin": self._time(begin), "end": self._time(end)},
                    "topN": self.random.choice([1, 2, 3, 10, 100, 2**31 - 1]), "agg": self.random.choice(FUNCTIONS),
                    "fieldValueSort": self.random.choice(directions), "trace": self.random.random() < 0.2}
        if self.random.random() < 0.2:
            service = {"str": {"value": self.random.choice(["s0", "s1", "nobody"])}}
            document["conditions"] = [{"name": "svc", "op": "BINARY_OP_EQ", "value": service}]
        return Asked(document, after=True, topn=True)

    def _time(self, minute):
        return rfc3339((self.world.now + minute * MINUTE) // 1_000_000)

    def _about(self, minute):
        """This very moment, which belongs to a range, or a millisecond beside it."""
        beside = self.random.choice([0, 0, 0, -1, 1])
        return rfc3339((self.world.now + minute * MINUTE) // 1_000_000 + beside)

    def _range(self):
        """In minutes from now."""
        kind = self.random.random()
        if kind < 0.35:
            begin, end = sorted(self.random.choices([*BEFORE], k=2))
        elif kind < 0.85:
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
        tags = self._known(groups, self.tags, len(groups) == 1)
        fields = self._known(groups, self.fields, len(groups) == 1)
        tags = self.random.sample(tags, self.random.randint(1, min(4, len(tags))))
        if self.random.random() < 0.1:
            tags += self.random.choices(tags, k=2)
        document["tagProjection"] = {"tagFamilies": by_family(tags)}
        if len(groups) == 1 and self.random.random() < 0.05:
            document["tagProjection"]["tagFamilies"].append({"name": "none", "tags": ["rank"]})
        if fields:
            names = self.random.sample(fields, self.random.randint(1, len(fields)))
            names += self.random.choices(names, k=self.random.choice([0] * 9 + [1]))
            names += ["none"] if len(groups) > 1 and self.random.random() < 0.05 else []
            document["fieldProjection"] = {"names": names}

    def _rows(self, document, groups):
        """Nodes cut rows, and a newer version may lie behind the cut."""
        document["limit"] = 100_000

    def _page_of_rows(self, document, after):
        """What nodes cut is what the answer cuts: rows that are not written again, or nothing, as there are few rows."""
        order = document.get("orderBy", {})
        if after or ("indexRuleName" in order and order["sort"] != "SORT_DESC"):
            del document["limit"]
            self._page(document)

    def _page(self, document):
        if self.random.random() < 0.5:
            document["limit"] = self.random.choice([1, 2, 3, 5, 10, 1000, 2**32 - 1])
        if self.random.random() < 0.2:
            document["offset"] = self.random.choice([1, 2, 7, 40, 5000, 2**32 - 1])

    def _group_by(self, document, groups):
        known = self._known(groups, self.tags, True)
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
        field = self.random.choice(self._known(groups, self.fields, False))
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
            asked.refusal = self.random.choice([self._criteria, self._projection, self._no_group])(document, groups)
            return
        document.setdefault("agg", {"function": "AGGREGATION_FUNCTION_SUM", "fieldName": "n"})
        if document.get("top", {}).get("fieldName", document["agg"]["fieldName"]) != document["agg"]["fieldName"]:
            del document["top"]
        # Checked before agg and group_by, so it must be right for them to be looked at.
        spoilers = [self._no_field, self._no_function, self._odd_function, self._no_family, self._no_key,
                    self._two_families, self._no_keys, self._unknown_rule]
        if all("text" in self.fields[group] for group in groups):
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

    def _no_group(self, document, _groups):
        document["groups"] = [*document["groups"], "nowhere"]
        return f"fail to get execution context for measure {document['name']}: measure doesn't exist"

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
