# SPDX-License-Identifier: Apache-2.0
"""Random criteria trees over the tags of random_world: svc is of the entity, rank and label have index rules."""
from asking import EQ, GE, GT, HAVING, IN, LE, LT, MATCH, NE, NOT_HAVING, NOT_IN, both, either, where

RANKS, LABELS = [0, 7, -3, 5], ["alpha", "beta", "Zeta", "", "none"]


def with_value(name, op, value):
    return {"condition": {"name": name, "op": op, "value": value}}


class Criteria:
    def __init__(self, random, entity):
        self.random, self.entity = random, entity

    def tree(self, depth=3, pins=True):
        """`pins`: conditions on the entity are allowed. Two sides of an AND must not both have them: nodes
        take those apart, and find nothing where they could find something."""
        kind = self.random.random()
        if depth == 0 or kind < 0.45:
            return self._pin() if pins and self.random.random() < 0.4 else self._leaf()
        if kind < 0.7:
            return both(self.tree(depth - 1, pins), self.tree(depth - 1, False))
        if kind < 0.92:
            return either(self.tree(depth - 1, pins), self.tree(depth - 1, pins))
        side = self.random.choice(["left", "right"])
        return {"le": {"op": self.random.choice(["LOGICAL_OP_AND", "LOGICAL_OP_OR"]),
                       side: self.tree(depth - 1, pins)}}

    def _pin(self):
        services = [f"s{number}" for number in range(self.random.randint(1, 4))]
        pins = [where("svc", IN, services), where("svc", EQ, services[-1]), where("svc", IN, services[0]),
                with_value("svc", IN, {"strArray": {}})]
        if "num" in self.entity:
            pins += [where("num", EQ, 2**40), where("num", IN, [0, -1, 5])]
        return self.random.choice(pins)

    def _leaf(self):
        rank, label = self.random.choice(RANKS), self.random.choice(LABELS)
        op = self.random.choice([EQ, NE, LT, GT, LE, GE, HAVING, NOT_HAVING])
        return self.random.choice([
            lambda: where("rank", op, rank), lambda: where("label", op, label),
            lambda: where("rank", self.random.choice([IN, NOT_IN]), self.random.sample(RANKS, 2)),
            lambda: where("label", self.random.choice([IN, NOT_IN]), self.random.sample(LABELS, 2)),
            lambda: where("label", self.random.choice([HAVING, NOT_HAVING]), [label]),
            lambda: where("label", MATCH, label or "beta"), lambda: self._match(f"{label} ZETA"),
            lambda: with_value("label", self.random.choice([IN, NOT_IN]), {"strArray": {}}),
            lambda: with_value("rank", self.random.choice([IN, NOT_IN]), {"intArray": {}}),
            # values of another type than the tag's are found nowhere
            lambda: where("rank", op, label), lambda: where("label", self.random.choice([EQ, NE]), rank)])()

    def _match(self, words):
        condition = where("label", MATCH, words)
        condition["condition"]["matchOption"] = {
            "analyzer": self.random.choice(["", "keyword", "simple"]),
            "operator": self.random.choice(["OPERATOR_AND", "OPERATOR_OR", "OPERATOR_UNSPECIFIED"])}
        return condition

    def refused(self):
        """(criteria, what the nodes say of it)."""
        found, text = self.random.choice([
            (where("svc", NE, "s0"), "mandatory index rule conf:"),
            (where("nothing", EQ, 1), "mandatory index rule conf:"),
            (where("rank", IN, 7), "IN condition requires array value type"),
            (where("rank", NOT_IN, 7), "NOT_IN condition requires array value type"),
            (where("rank", MATCH, 7), "MATCH condition requires string value type"),
            (where("rank", EQ, [7, 8]), "don't support multiple or null value"),
            (with_value("label", EQ, {"null": None}), "don't support multiple or null value"),
            ({"condition": {"name": "label", "op": EQ}}, "unsupported condition value type"),
            ({"condition": {"name": "label", "value": {"str": {"value": "x"}}}}, "unsupported condition operation"),
            ({"le": {"op": "LOGICAL_OP_OR"}}, "are empty: invalid logical expression"),
            ({}, "invalid criteria type"),
            (both(where("svc", EQ, "s0"), where("svc", EQ, "s1")), "series is required")])
        return (both(found, self._leaf()) if self.random.random() < 0.3 else found), text
