# SPDX-License-Identifier: Apache-2.0
"""What one node request asks for, checked against the schema in the order and with the words of a real node."""
from dataclasses import dataclass, field

import criteria
from schema import FIELD_FLOAT, FIELD_INT, TAG_TIMESTAMP

DEFAULT_LIMIT = 100
SORT_UNSPECIFIED, SORT_DESC, SORT_ASC = range(3)
MEAN, MAX, MIN, COUNT, SUM = range(1, 6)


class QueryError(Exception):
    """A refusal of a node: the text behind `code: STATUS_INTERNAL_ERROR, msg: `."""


@dataclass
class TagColumn:
    family: str
    name: str
    key: bool = False       # group keys keep the type of the schema, others follow their content


@dataclass
class Plan:
    view: object
    request: object
    partial: bool
    tags: list = field(default_factory=list)
    fields: list = field(default_factory=list)
    keys: list = field(default_factory=list)        # positions of the group keys in tags
    filter: object = None
    order_tag: str = ""
    descending: bool = False
    hidden: bool = False    # the criteria read a tag that the answer does not show, which changes its layout

    @property
    def aggregates(self):
        return self.request.HasField("agg")

    @property
    def groups(self):
        return self.request.HasField("group_by")

    @property
    def limit(self):
        return self.request.limit or DEFAULT_LIMIT


def make_plan(view, request, partial):
    """The plan of a request for a known measure, or QueryError."""
    plan = Plan(view, request, partial)
    try:
        _project(plan)
        _order(plan)
        _filter(plan)
        _analyze(plan)
        _require(plan)
    except QueryError as error:
        raise QueryError(f"fail to dispatch the query request for measure {view.name}: {error}") from None
    return plan


def _project(plan):
    known = {tag.name for tag in plan.view.tags}
    for family in plan.request.tag_projection.tag_families:
        for name in family.tags:
            if name not in known:
                raise QueryError(f"{name}: tag is not defined")
            plan.tags.append(TagColumn(family.name, name))
    for name in plan.request.field_projection.names:
        if name not in plan.view.fields:
            raise QueryError(f"field {name} not found in schema")
        plan.fields.append(name)


def _order(plan):
    order = plan.request.order_by
    if not order.index_rule_name:
        plan.descending = order.sort not in (SORT_UNSPECIFIED, SORT_ASC)
        return
    plan.descending = order.sort == SORT_DESC
    rule = plan.view.rule_by_name.get(order.index_rule_name)
    if rule is None:
        raise QueryError(f"vec dispatch: parse order_by: {order.index_rule_name}: index is not define for the tag")
    if rule.no_sort:
        raise QueryError(f"vec dispatch: parse order_by: {order.index_rule_name}: index does not support sorting")
    plan.order_tag = rule.tags[0]


def _filter(plan):
    plan.filter = criteria.everything()
    if plan.request.HasField("criteria"):
        try:
            plan.filter = criteria.compile_criteria(plan.request.criteria, plan.view)
        except criteria.CriteriaError as error:
            raise QueryError(f"vec dispatch: build query: {error}") from None


def _analyze(plan):
    try:
        if plan.groups:
            _analyze_group_by(plan)
        if plan.aggregates:
            _analyze_aggregate(plan)
        for tag in plan.tags:
            known = plan.view.tag_by_key.get((tag.family, tag.name))
            if known and known.type == TAG_TIMESTAMP:
                raise QueryError(f"vectorized.measure: tag {tag.family}.{tag.name}: "
                                 "unsupported tag type TAG_TYPE_TIMESTAMP")
    except QueryError as error:
        raise QueryError(f"vec dispatch: analyze: plan.Analyze: {error}") from None


def _analyze_group_by(plan):
    families = plan.request.group_by.tag_projection.tag_families
    if not families:
        raise QueryError("GroupBy.tag_projection must list at least one tag family")
    if len(families) > 1:
        raise QueryError(f"GroupBy.tag_projection v1 supports a single tag family, got {len(families)}")
    family = families[0]
    if not family.tags:
        raise QueryError(f'GroupBy.tag_projection family "{family.name}" has no tags')
    if family.name not in {tag.family for tag in plan.view.tags}:
        raise QueryError(f'GroupBy tag family "{family.name}" not present in measure schema')
    for name in family.tags:
        if (family.name, name) not in plan.view.tag_by_key:
            raise QueryError(f"GroupBy tag {family.name}.{name} not present in measure schema")
        _add_key(plan, family.name, name)
    plan.keys = [_position(plan, family.name, name) for name in family.tags]


def _position(plan, family, name):
    return next(index for index, tag in enumerate(plan.tags) if (tag.family, tag.name) == (family, name))


def _add_key(plan, family, name):
    """Marks a group key in the projection; a missing one goes to the end of its family, or of all families."""
    same = [tag for tag in plan.tags if (tag.family, tag.name) == (family, name)]
    if not same:
        same = [TagColumn(family, name)]
        members = [index for index, tag in enumerate(plan.tags) if tag.family == family]
        plan.tags.insert(members[-1] + 1 if members else len(plan.tags), same[0])
    for tag in same:
        tag.key = True


def _analyze_aggregate(plan):
    name = plan.request.agg.field_name
    if name not in plan.view.fields:
        raise QueryError(f'Agg field "{name}" not present in measure schema')
    if name not in plan.fields:
        plan.fields.append(name)


def _require(plan):
    if not plan.tags and not plan.fields:
        raise QueryError("vec dispatch: query measure: invalid query options: "
                         "tagProjection or fieldProjection is required")
    shown = {tag.name for tag in plan.tags} | set(plan.view.entity)
    plan.hidden = bool(plan.filter.tags - shown)
    if plan.filter.entities is None and not plan.view.index_mode:
        raise QueryError("vec dispatch: query measure: invalid query options: series is required")


def check_execution(plan):
    """What a real node finds out only once it builds its operators."""
    prefix = f"fail to dispatch the query request for measure {plan.view.name}: vec dispatch: execute: plan.Execute: "
    if plan.aggregates:
        function = plan.request.agg.function
        if function == 0:
            raise QueryError(prefix + "plan.GroupByAgg.Build: vectorized.measure: Agg.Function is UNSPECIFIED")
        if function not in (MEAN, MAX, MIN, COUNT, SUM):
            raise QueryError(prefix + "plan.GroupByAgg.Build: vectorized.measure: "
                             f"unknown AggregationFunction {function}")
        if plan.view.fields[plan.request.agg.field_name] not in (FIELD_INT, FIELD_FLOAT):
            raise QueryError("panic")
    if plan.request.HasField("top"):
        available = [plan.request.agg.field_name] if plan.aggregates else plan.fields
        if plan.request.top.field_name not in available:
            raise QueryError(prefix + f'plan.Top.Build: field "{plan.request.top.field_name}" not present in schema')
