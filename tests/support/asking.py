# SPDX-License-Identifier: Apache-2.0
"""Short words for QueryRequests."""
from client import time_range
from proto import message

EQ, NE, LT, GT, LE, GE, HAVING, NOT_HAVING, IN, NOT_IN, MATCH = (f"BINARY_OP_{op}" for op in (
    "EQ", "NE", "LT", "GT", "LE", "GE", "HAVING", "NOT_HAVING", "IN", "NOT_IN", "MATCH"))
ASC, DESC = "SORT_ASC", "SORT_DESC"
ALWAYS = time_range(0, 4_000_000_000_000)


def where(name, op, value):
    if isinstance(value, list):
        kind = "strArray" if isinstance(value[0], str) else "intArray"
    else:
        kind = "str" if isinstance(value, str) else "int"
    return {"condition": {"name": name, "op": op, "value": {kind: {"value": value}}}}


def both(left, right):
    return {"le": {"op": "LOGICAL_OP_AND", "left": left, "right": right}}


def either(left, right):
    return {"le": {"op": "LOGICAL_OP_OR", "left": left, "right": right}}


def by(rule="", sort=ASC):
    return {"indexRuleName": rule, "sort": sort}


def ask(groups, name, tags=(), fields=(), **more):
    """A QueryRequest as a document: groups with blanks between, tags as "family.name"."""
    document = {"groups": groups.split(), "name": name, **more}
    families = {}
    for tag in tags:
        family, tag_name = tag.split(".")
        families.setdefault(family, []).append(tag_name)
    if families:
        document["tagProjection"] = {"tagFamilies": [{"name": family, "tags": members}
                                                     for family, members in families.items()]}
    if fields:
        document["fieldProjection"] = {"names": list(fields)}
    return document


def query(document):
    """The message; over all time unless the document says otherwise."""
    return message("measure.v1.QueryRequest", {"timeRange": ALWAYS, **document})


# Measures of the demo data. LATENCY keeps each row on one node; CPM has a copy of each on a second one.
CPM = ("sw_metric", "service_cpm_minute", ["default.service_id", "default.layer"], ["value", "total"])
APDEX = ("sw_metric", "service_apdex_minute", ["default.service_id"], ["value"])
INSTANCE = ("sw_metric", "service_instance_cpm_minute",
            ["default.service_id", "default.instance_id", "default.version"], ["value"])
LATENCY = ("sw_latency", "endpoint_latency_minute",
           ["default.endpoint_id", "default.status"], ["value", "percentile"])
SERVICES = ("sw_traffic", "service_traffic", ["default.service_id", "default.name", "default.layer"])
ENDPOINTS = ("sw_traffic", "endpoint_traffic", ["default.endpoint_id", "default.name"])
CPM_ROWS, LATENCY_ROWS = 360, 1800


def internal(text):
    """A text of the local processor as clients see it, with code UNKNOWN."""
    return f"code: STATUS_INTERNAL_ERROR, msg: {text}: invalid query message"


def execution(measure, text):
    """A text of a query's execution as clients see it."""
    return internal(f"fail to execute the query plan for measure {measure}: {text}")
