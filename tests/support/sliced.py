# SPDX-License-Identifier: Apache-2.0
"""Aggregations over more rows than a query may hold: what nodes have, what is asked, what it comes to."""
import time

from asking import ask, query
from client import rfc3339

QUARTER_MS = 900_000
BEGIN_MS = 1_790_000_000_000 // QUARTER_MS * QUARTER_MS
LATENCY, INSTANCE = "endpoint_latency_minute", "service_instance_cpm_minute"
QUOTA = ("code: STATUS_INTERNAL_ERROR, msg: fail to dispatch the query request for measure endpoint_latency_minute: "
         "vec dispatch: query measure: block scan quota exceeded: used 1073741900 bytes, quota is 1073741824")
SMALL = ["--aggregation=rows", "--measure-vectorized-query-memory-mib=2", "--measure-frame-versions=3,4"]


def timeline(nodes, rows, copies=False, **more):
    """Each node has so many rows, one each millisecond."""
    nodes.control(timeline={name: {"rows": rows, "begin": BEGIN_MS * 1_000_000,
                                   "first_series": 0 if copies else 100_000 * number, **more}
                            for number, name in enumerate(nodes.names)})


def value(number):
    return number * 7 % 1000


def total(function, key=None, groups="sw_latency", name=LATENCY, begin=BEGIN_MS, seconds=3600, **more):
    document = {"agg": {"function": f"AGGREGATION_FUNCTION_{function}", "fieldName": "value"},
                "timeRange": {"begin": rfc3339(begin), "end": rfc3339(begin + seconds * 1000)}, **more}
    if key:
        document["groupBy"] = {"tagProjection": {"tagFamilies": [{"name": "default", "tags": [key]}]}}
    return query(ask(groups, name, [f"default.{key}"] if key else [], ["value"], limit=100_000, **document))


def only(response):
    (point,) = response.data_points
    return point.fields[0].value.int.value


def ranges_of(nodes, name="d1"):
    """(begin, end) of its requests, as texts, in their order."""
    return [(body["timeRange"]["begin"], body["timeRange"]["end"])
            for body in (request["body"]["request"] for request in nodes.stats()[name]["requests"])]


def slices(cluster):
    return cluster.liaison.metric("bydb_aggregation_slices_total")


def expect_silence(cluster):
    """Nobody is asked any more. (The liaison counts: what it has sent may come to a busy node a little later.)"""
    def asked():
        return cluster.liaison.metric("banyandb_queue_pub_total_started")
    cluster.liaison.expect_nothing_alive()
    before = asked()
    time.sleep(0.5)
    assert asked() == before > 0
