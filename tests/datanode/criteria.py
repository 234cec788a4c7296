# SPDX-License-Identifier: Apache-2.0
"""Criteria trees: what a node refuses, and which series (or index-mode rows) a tree matches.

A node looks criteria up in its series index, so every condition needs an index rule or names an entity tag. Entity
tags asked by EQ or IN are collected apart, as the entities to look up, and two sides of an AND that contradict
each other there are an error, not an empty answer.
"""
import operator
import re

from debugtext import debug_text

EQ, NE, LT, GT, LE, GE, HAVING, NOT_HAVING, IN, NOT_IN, MATCH = range(1, 12)
LOGICAL_OR = 2
OPERATOR_AND = 1
MAX_INT64 = (1 << 63) - 1
_RANGES = {LT: operator.lt, GT: operator.gt, LE: operator.le, GE: operator.ge}
_BAD_OPERATION = "unsupported condition operation"
_BAD_VALUE = "unsupported condition value type"


class CriteriaError(Exception):
    """The node's own words for criteria it cannot build a query from."""


class Filter:
    """A compiled tree: `matches(subject)` for anything with `value(name)`, and the names of the tags it reads."""

    def __init__(self, matches, tags, entities):
        self.matches, self.tags = matches, tags
        self.entities = entities    # entity tag -> values that EQ and IN allow; None after a contradiction


def everything():
    return Filter(lambda subject: True, frozenset(), {})


def compile_criteria(criteria, view, need_index=True):
    """The Filter of a Criteria message, or CriteriaError. Only the write side may read tags without an index."""
    kind = criteria.WhichOneof("exp")
    if kind == "condition":
        return _compile_condition(criteria.condition, view, need_index)
    if kind is None:
        raise CriteriaError("invalid criteria type")
    expression = criteria.le
    sides = [getattr(expression, side) for side in ("left", "right") if expression.HasField(side)]
    if not sides:
        raise CriteriaError(f"both sides(left and right) of [{debug_text(criteria)}] are empty: "
                            "invalid logical expression")
    filters = [compile_criteria(side, view, need_index) for side in sides]
    return filters[0] if len(filters) == 1 else _join(expression.op, *filters)


def _join(op, left, right):
    tags = left.tags | right.tags
    if op == LOGICAL_OR:
        either = {} if left.entities is not None or right.entities is not None else None
        return Filter(lambda subject: left.matches(subject) or right.matches(subject), tags, either)
    return Filter(lambda subject: left.matches(subject) and right.matches(subject), tags,
                  _common_entities(left.entities, right.entities))


def _common_entities(left, right):
    """A tag that both sides pin must be pinned to the same single value: a node intersects nothing else."""
    if left is None or right is None:
        return None
    for name in left.keys() & right.keys():
        if len(left[name]) != 1 or left[name] != right[name]:
            return None
    return {**left, **right}


def _compile_condition(condition, view, need_index):
    kind = condition.value.WhichOneof("value")
    name, is_entity = condition.name, condition.name in view.entity
    if is_entity and condition.op in (EQ, IN) and kind in ("str", "int"):
        return _pin(name, {getattr(condition.value, kind).value})
    if is_entity and condition.op == IN and kind in ("str_array", "int_array"):
        return _pin(name, set(getattr(condition.value, kind).value))
    if kind not in ("str", "int", "str_array", "int_array", "null"):
        raise CriteriaError(f"index filter parses {debug_text(condition)}: {_BAD_VALUE}")
    if need_index and name not in view.rule_by_tag and not (view.index_mode and is_entity):
        raise CriteriaError(f"mandatory index rule conf:{debug_text(condition)}: {_BAD_OPERATION}")
    test = _test(condition, kind, view)
    return Filter(lambda subject: test(subject.value(name)), frozenset([name]), {})


def _pin(name, values):
    return Filter(lambda subject: subject.value(name) in values, frozenset([name]), {name: values})


def _test(condition, kind, view):
    """A predicate over one stored value, None for a missing one."""
    text, op = debug_text(condition), condition.op
    wanted = None if kind == "null" else getattr(condition.value, kind).value
    is_array = kind in ("str_array", "int_array")
    if op == MATCH:
        if kind != "str":
            raise CriteriaError(f"MATCH condition requires string value type: {text}: {_BAD_VALUE}")
        return _match_test(wanted, condition.match_option, view.rule_by_tag.get(condition.name))
    if op in (IN, NOT_IN):
        if not is_array:
            verb = "IN" if op == IN else "NOT_IN"
            raise CriteriaError(f"{verb} condition requires array value type: {text}: {_BAD_VALUE}")
        return _negated(op == NOT_IN, _any_of(set(wanted)))
    if op in (HAVING, NOT_HAVING) and kind != "null":
        return _negated(op == NOT_HAVING, _all_of(set(wanted if is_array else [wanted])))
    if op not in (EQ, NE, *_RANGES, HAVING, NOT_HAVING):
        raise CriteriaError(f"index filter parses {text}: {_BAD_OPERATION}")
    if kind == "null" or is_array:
        raise CriteriaError(f"don't support multiple or null value: {text}: {_BAD_OPERATION}")
    return _negated(op == NE, _any_of({wanted})) if op in (EQ, NE) else _range_test(op, wanted)


def _elements(stored):
    """The index terms of a stored value: one per array element."""
    if stored is None:
        return set()
    return set(stored) if isinstance(stored, tuple) else {stored}


def _any_of(values):
    return lambda stored: bool(_elements(stored) & values)


def _all_of(values):
    return lambda stored: values <= _elements(stored)


def _negated(negate, test):
    return (lambda stored: not test(stored)) if negate else test


def _range_test(op, wanted):
    """Ranges over numbers that are open above end before the largest int64: a node never finds that one."""
    compare, bounded = _RANGES[op], op in (LT, LE)

    def test(stored):
        return type(stored) is type(wanted) and (bounded or stored != MAX_INT64) and compare(stored, wanted)
    return test


def _match_test(wanted, option, rule):
    """MATCH compares words; without an analyzer the whole value is one word. Any word is enough unless AND is asked."""
    analyzer = option.analyzer or (rule.analyzer if rule else "")
    words = _words(wanted, analyzer)
    enough = all if option.operator == OPERATOR_AND else any

    def test(stored):
        terms = set(_words(stored, rule.analyzer if rule else "")) if isinstance(stored, str) else set()
        return bool(words) and enough(word in terms for word in words)
    return test


def _words(text, analyzer):
    if analyzer in ("", "keyword"):
        return [text]
    return [word.lower() for word in re.split(r"[\W_]+", text) if word]
