# SPDX-License-Identifier: Apache-2.0
"""TopN queries, answered as a node does from what the write side pre-aggregated.

The write side keeps, for each rule, shard, group key and bucket of time, the last value of each series, and of those
the `counters_number` best. A rule without a direction keeps the highest, for lists of the lowest as well. A node
answers with one item per entity: its best value over all buckets in the range.
"""
import time
from dataclasses import dataclass

import criteria
from debugtext import debug_text
from messages import measure, nanoseconds, set_nanoseconds
from plan import COUNT, MEAN, SORT_ASC, SORT_DESC, SORT_UNSPECIFIED
from values import from_tag, to_field, to_tag

LARGEST_TOP_N = 1 << 30     # a node reserves memory by the number; beyond this no answer comes in any useful time


class NodePanic(Exception):
    """The request makes the handler of a real node crash: the call ends with INTERNAL and this text."""

    def __init__(self):
        super().__init__("runtime error: invalid memory address or nil pointer dereference")


class NodeStuck(Exception):
    """The request keeps a real node busy for longer than anyone waits."""


class TopNError(Exception):
    """A refusal: the text behind `code: STATUS_INTERNAL_ERROR, msg: `."""


@dataclass
class Item:
    """The value of one series in one bucket, or of one entity in the answer."""
    row: object
    value: int | float
    bucket: int


def lists(node, request):
    """The TopNResponse of a node without its trace, or None where the node leaves the body out."""
    rules = [_rule(node.catalog, group, request.name) for group in request.groups]
    if request.field_value_sort == SORT_UNSPECIFIED or not rules or None in rules:
        return None
    if any(rule.field_value_sort not in (SORT_UNSPECIFIED, request.field_value_sort) for rule, _ in rules):
        raise NodePanic
    if request.top_n >= LARGEST_TOP_N:
        raise NodeStuck
    items = []
    for rule, view in rules:
        items += _items(node.store, rule, view, request)
    best = _best_per_entity(items, request.field_value_sort == SORT_DESC)[:max(request.top_n, 0)]
    return _response(best, request.agg)


def _rule(catalog, group, name):
    """The rule with the view of its source measure, None unless both are known."""
    rule = catalog.get("topNAggregation", group, name)
    view = rule and catalog.measure(rule.source_measure.group, rule.source_measure.name)
    return (rule, view) if view else None


def _items(store, rule, view, request):
    """Everything in the stored lists of one rule that the request asks for."""
    begin, end = nanoseconds(request.time_range.begin), nanoseconds(request.time_range.end)
    wanted = _wanted_groups(rule, request)
    for (_, bucket, key), items in _stored_lists(store, rule, view).items():
        if begin <= bucket <= end and all(key[name] == value for name, value in wanted.items()):
            yield from items


def _wanted_groups(rule, request):
    """Group tag position -> value, of the request's conditions. A node can only look keys up."""
    names, wanted = list(rule.group_by_tag_names), {}
    for condition in request.conditions:
        if condition.op != criteria.EQ or condition.name not in names:
            raise TopNError(f"fail to analyze the query request for topn {request.name}: "
                            f"unsupported condition {debug_text(condition)}")
        wanted[names.index(condition.name)] = from_tag(condition.value)
    return wanted


def _stored_lists(store, rule, view):
    """(shard, bucket, group key) -> the items that the write side keeps."""
    accepts = criteria.everything()
    if rule.HasField("criteria"):
        accepts = criteria.compile_criteria(rule.criteria, view, need_index=False)
    with store.lock:
        rows = sorted(store.table(view).rows.values(), key=lambda row: row.version)
    latest = {}
    for row in rows:
        value = row.fields.get(rule.field_name)
        if value is None or not accepts.matches(row):
            continue
        bucket = row.timestamp // view.interval * view.interval
        key = tuple(row.value(name) for name in rule.group_by_tag_names)
        latest.setdefault((row.series.shard, bucket, key), {})[row.series.id] = Item(row, value, bucket)
    keep_highest = rule.field_value_sort != SORT_ASC
    return {key: sorted(items.values(), key=lambda item: item.value, reverse=keep_highest)[:rule.counters_number]
            for key, items in latest.items()}


def _best_per_entity(items, descending):
    """One item per entity, best first; of equal values the earlier bucket counts."""
    ranked = sorted(items, key=lambda item: item.bucket)
    ranked.sort(key=lambda item: item.value, reverse=descending)
    best = {}
    for item in ranked:
        best.setdefault(tuple(item.row.series.entity.items()), item)
    return list(best.values())


def _response(items, function):
    """One list. An aggregation, which a liaison never sends, drops the items' own times and versions."""
    response = measure.TopNResponse()
    found = response.lists.add()
    if function:
        set_nanoseconds(found.timestamp, time.time_ns())
    for item in items:
        out = found.items.add(value=to_field(_folded(item.value, function)))
        for name, value in item.row.series.entity.items():
            out.entity.add(key=name).value.CopyFrom(to_tag(None if value == "" else value))
        if not function:
            out.version = item.row.version
            set_nanoseconds(out.timestamp, item.bucket)
    return response


def _folded(value, function):
    """An aggregation over the single value that a node has for an entity."""
    if function == COUNT:
        return type(value)(1)
    return max(value, type(value)(1)) if function == MEAN else value
