# SPDX-License-Identifier: Apache-2.0
"""Sample data in the terms of SkyWalking: services, their instances and endpoints, and an hour of their metrics.

Three groups, so that every placement occurs: `sw_metric` has a copy on two nodes, `sw_latency` keeps its shards on
one node each, `sw_traffic` holds index-mode measures.
"""
import random

from clock import MINUTE
from rows import Point

MINUTES = 60
SERVICES = ["agent::frontend", "agent::checkout", "agent::cart", "agent::payment", "mesh::catalog", "mesh::shipping"]
INSTANCES = 2
ENDPOINTS = ["GET:/", "GET:/items/{id}", "POST:/orders", "GET:/orders/{id}", "POST:/login"]
LAYERS = {"agent": 2, "mesh": 4}


def _group(name, shards, replicas):
    days = {"unit": "UNIT_DAY", "num": 1}
    return {"metadata": {"name": name}, "catalog": "CATALOG_MEASURE",
            "resourceOpts": {"shardNum": shards, "replicas": replicas, "segmentInterval": days,
                             "ttl": {"unit": "UNIT_DAY", "num": 7}}}


def _measure(group, name, entity, tags, fields, **more):
    return {"metadata": {"group": group, "name": name}, "entity": {"tagNames": entity}, "interval": "1m",
            "tagFamilies": [{"name": "default", "tags": [{"name": tag, "type": f"TAG_TYPE_{kind}"}
                                                         for tag, kind in tags.items()]}],
            "fields": [{"name": field, "fieldType": f"FIELD_TYPE_{kind}", "encodingMethod": "ENCODING_METHOD_GORILLA",
                        "compressionMethod": "COMPRESSION_METHOD_ZSTD"} for field, kind in fields.items()], **more}


def _rule(group, number, tag, **more):
    return {"metadata": {"group": group, "name": tag, "id": number}, "tags": [tag], "type": "TYPE_INVERTED", **more}


def _binding(group, measure, rules):
    return {"metadata": {"group": group, "name": measure}, "rules": rules, "beginAt": "2021-01-01T00:00:00Z",
            "expireAt": "2121-01-01T00:00:00Z", "subject": {"catalog": "CATALOG_MEASURE", "name": measure}}


SCHEMA = [
    ("group", _group("sw_metric", 2, 1)),
    ("group", _group("sw_latency", 3, 0)),
    ("group", _group("sw_traffic", 2, 0)),
    ("measure", _measure("sw_metric", "service_cpm_minute", ["service_id"],
                         {"service_id": "STRING", "layer": "INT"}, {"value": "INT", "total": "INT"})),
    ("measure", _measure("sw_metric", "service_apdex_minute", ["service_id"],
                         {"service_id": "STRING", "layer": "INT"}, {"value": "FLOAT"})),
    ("measure", _measure("sw_metric", "service_instance_cpm_minute", ["service_id", "instance_id"],
                         {"service_id": "STRING", "instance_id": "STRING", "version": "STRING"}, {"value": "INT"})),
    ("measure", _measure("sw_latency", "endpoint_latency_minute", ["service_id", "endpoint_id"],
                         {"service_id": "STRING", "endpoint_id": "STRING", "status": "INT"},
                         {"value": "INT", "percentile": "FLOAT"})),
    ("measure", _measure("sw_traffic", "service_traffic", ["service_id"],
                         {"service_id": "STRING", "name": "STRING", "layer": "INT", "normal": "INT"}, {},
                         indexMode=True)),
    ("measure", _measure("sw_traffic", "endpoint_traffic", ["service_id", "endpoint_id"],
                         {"service_id": "STRING", "endpoint_id": "STRING", "name": "STRING"}, {}, indexMode=True)),
    ("indexRule", _rule("sw_metric", 1, "layer")),
    ("indexRule", _rule("sw_metric", 2, "version")),
    ("indexRule", _rule("sw_traffic", 3, "name", analyzer="url")),
    ("indexRule", _rule("sw_traffic", 4, "layer")),
    ("indexRuleBinding", _binding("sw_metric", "service_cpm_minute", ["layer"])),
    ("indexRuleBinding", _binding("sw_metric", "service_apdex_minute", ["layer"])),
    ("indexRuleBinding", _binding("sw_metric", "service_instance_cpm_minute", ["version"])),
    ("indexRuleBinding", _binding("sw_traffic", "service_traffic", ["name", "layer"])),
    ("indexRuleBinding", _binding("sw_traffic", "endpoint_traffic", ["name"])),
    ("topNAggregation", {"metadata": {"group": "sw_metric", "name": "service_instance_cpm_minute_topn"},
                         "sourceMeasure": {"group": "sw_metric", "name": "service_instance_cpm_minute"},
                         "fieldName": "value", "fieldValueSort": "SORT_UNSPECIFIED",
                         "groupByTagNames": ["service_id"], "countersNumber": 1000, "lruSize": 10}),
    ("topNAggregation", {"metadata": {"group": "sw_latency", "name": "endpoint_latency_minute_topn"},
                         "sourceMeasure": {"group": "sw_latency", "name": "endpoint_latency_minute"},
                         "fieldName": "value", "fieldValueSort": "SORT_DESC",
                         "groupByTagNames": ["service_id"], "countersNumber": 1000, "lruSize": 10}),
]


def load(cluster, t0, seed):
    """Loads schemas and an hour of rows that ends at t0 (ns), cut down to the minute."""
    for kind, document in SCHEMA:
        cluster.load(kind, document)
    random_ = random.Random(seed)
    end = t0 // MINUTE * MINUTE
    minutes = [end - MINUTE * back for back in reversed(range(MINUTES))]
    for write in (_services, _instances, _endpoints, _traffic):
        write(cluster, minutes, random_)


def _point(timestamp, tags, fields):
    return Point(timestamp, {("default", name): value for name, value in tags.items()}, fields)


def _layer(service):
    return LAYERS[service.split("::")[0]]


def _services(cluster, minutes, random_):
    calls, apdex = [], []
    for minute in minutes:
        for service in SERVICES:
            tags, load_ = {"service_id": service, "layer": _layer(service)}, random_.randrange(50, 900)
            calls.append(_point(minute, tags, {"value": load_, "total": load_ * INSTANCES}))
            apdex.append(_point(minute, tags, {"value": round(random_.uniform(0.6, 1.0), 4)}))
    cluster.write("sw_metric", "service_cpm_minute", calls)
    cluster.write("sw_metric", "service_apdex_minute", apdex)


def _instances(cluster, minutes, random_):
    cluster.write("sw_metric", "service_instance_cpm_minute", [
        _point(minute, {"service_id": service, "instance_id": f"{service}-{number}", "version": f"v1.{number}"},
               {"value": random_.randrange(20, 500)})
        for minute in minutes for service in SERVICES for number in range(INSTANCES)])


def _endpoints(cluster, minutes, random_):
    points = []
    for minute in minutes:
        for service in SERVICES:
            for endpoint in ENDPOINTS:
                latency = int(random_.lognormvariate(4, 0.7))
                tags = {"service_id": service, "endpoint_id": f"{service}{endpoint}",
                        "status": random_.choice([200, 200, 200, 404, 500, None])}
                points.append(_point(minute, tags, {"value": latency, "percentile": latency * 1.7}))
    cluster.write("sw_latency", "endpoint_latency_minute", points)


def _traffic(cluster, minutes, _random):
    cluster.write("sw_traffic", "service_traffic", [
        _point(minutes[-1], {"service_id": service, "name": service.replace("::", "/"), "layer": _layer(service),
                             "normal": 1}, {}) for service in SERVICES])
    cluster.write("sw_traffic", "endpoint_traffic", [
        _point(minutes[-1], {"service_id": service, "endpoint_id": f"{service}{endpoint}", "name": endpoint}, {})
        for service in SERVICES for endpoint in ENDPOINTS])
