# SPDX-License-Identifier: Apache-2.0
"""Queries of all kinds in random order, among them some that must be refused."""
import random

from asking import (APDEX, CPM, DESC, EQ, IN, INSTANCE, LATENCY, SERVICES, ask, by, either, query, where)
from client import QUERY, TOPN, time_range
from proto import message

# What the sample nodes answer from memory: columns that the measure does not have, but the frames do.
WIDE = ask("sw_latency", "endpoint_latency_minute", ["default.tag0", "default.tag1", "default.tag2"], ["value"])
SECOND = "sw_second"    # a group with a measure of the same name as one of sw_metric's


def _grouped(function, tag="service_id"):
    return {"groupBy": {"tagProjection": {"tagFamilies": [{"name": "default", "tags": [tag]}]}, "fieldName": "value"},
            "agg": {"function": f"AGGREGATION_FUNCTION_{function}", "fieldName": "value"}}


def _top(number):
    return {"top": {"number": number, "fieldName": "value", "fieldValueSort": DESC}}


BOTH = (f"sw_metric {SECOND}", *CPM[1:])
KINDS = {
    "rows": [ask(*CPM, limit=1000), ask(*APDEX), ask(*CPM, criteria=where("layer", EQ, 4)), {**WIDE, "limit": 100},
             ask(*LATENCY, criteria=either(where("status", EQ, 404), where("status", EQ, 500)), offset=10, limit=20)],
    "large": [{**WIDE, "limit": 100_000}],
    "by time": [ask(*LATENCY, limit=1000, orderBy=by(sort=DESC))],
    "by an index": [ask(*INSTANCE, orderBy=by("version", DESC), limit=50),
                    ask(*CPM, criteria=where("layer", IN, [2, 4]), orderBy=by("layer"), limit=500)],
    "index mode": [ask(*SERVICES), ask(*SERVICES, orderBy=by("layer", DESC), limit=3)],
    "groups": [ask(*CPM, **_grouped("SUM")), ask(*LATENCY, **_grouped("MEAN", "endpoint_id")),
               ask(*LATENCY, **_grouped("MAX"), **_top(3))],
    "totals": [ask(*CPM, agg={"function": "AGGREGATION_FUNCTION_COUNT", "fieldName": "value"}),
               ask(*LATENCY, agg={"function": "AGGREGATION_FUNCTION_MIN", "fieldName": "value"})],
    "top": [ask(*CPM, **_top(5))],
    "several groups": [ask(*BOTH), ask(*BOTH, orderBy=by(sort=DESC), limit=100), ask(*BOTH, **_grouped("SUM"))],
    "traced": [ask(*CPM, trace=True), ask(*CPM, trace=True, **_grouped("SUM")), ask(*BOTH, trace=True)],
    "refused": [ask("sw_metric", "nothing", ["a.b"]), ask("nowhere", "nothing", ["a.b"]), ask(*CPM, agg={
        "function": "AGGREGATION_FUNCTION_SUM", "fieldName": "no such field"}), ask(*CPM, orderBy=by("no such rule"))],
}


def _topn(rank, **more):
    return message("measure.v1.TopNRequest", {
        "groups": ["sw_metric"], "name": "service_instance_cpm_minute_topn", "topN": 5 + rank,
        "timeRange": time_range(0, 4_000_000_000_000), "agg": "AGGREGATION_FUNCTION_SUM", "fieldValueSort": DESC,
        **more}).SerializeToString()


TOPNS = [_topn(rank) for rank in range(10)] + [_topn(3, agg="AGGREGATION_FUNCTION_MAX"), _topn(3, groups=["nowhere"])]
REQUESTS = [*[[(QUERY, query(document).SerializeToString()) for document in documents] for documents in KINDS.values()],
            [(TOPN, data) for data in TOPNS],
            [(QUERY, b"\xff\xff not a message"), (TOPN, b"\x0a\x7f"), ("/banyandb.measure.v1.MeasureService/No", b"")]]


class Mixture:
    """Each kind as often as the others."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def next(self):
        """(path, bytes)"""
        return self.chance.choice(self.chance.choice(REQUESTS))


def add_second_group(nodes):
    """Group, measure and rows, before any liaison looks."""
    group = {"metadata": {"name": SECOND}, "catalog": "CATALOG_MEASURE",
             "resourceOpts": {"shardNum": 2, "replicas": 1, "segmentInterval": {"unit": "UNIT_DAY", "num": 1},
                              "ttl": {"unit": "UNIT_DAY", "num": 7}}}
    measure = {"metadata": {"group": SECOND, "name": CPM[1]}, "entity": {"tagNames": ["service_id"]}, "interval": "1m",
               "tagFamilies": [{"name": "default", "tags": [{"name": "service_id", "type": "TAG_TYPE_STRING"},
                                                            {"name": "layer", "type": "TAG_TYPE_INT"}]}],
               "fields": [{"name": name, "fieldType": "FIELD_TYPE_INT", "encodingMethod": "ENCODING_METHOD_GORILLA",
                           "compressionMethod": "COMPRESSION_METHOD_ZSTD"} for name in ("value", "total")]}
    nodes.control(schema=[{"action": "insert", "kind": "group", "object": group},
                          {"action": "insert", "kind": "measure", "object": measure}])
    rows = [_row(f"2026-03-02T08:{minute:02}:00Z", service, minute) for minute in range(30)
            for service in ("agent::cart", "mesh::catalog")]
    nodes.control(write=[{"group": SECOND, "measure": CPM[1], "rows": rows}])


def _row(at, service, value):
    numbers = [{"int": {"value": value}}, {"int": {"value": 2 * value}}]
    return {"timestamp": at, "tagFamilies": [{"tags": [{"str": {"value": service}}, {"int": {"value": 2}}]}],
            "fields": numbers}
