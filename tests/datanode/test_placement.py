# SPDX-License-Identifier: Apache-2.0
"""Series ids, shards, and the nodes that hold them."""
import json

import suite
from clock import DAY, from_iso
from cluster import Cluster
from placement import series_id, shard_of

T0 = from_iso("2026-03-02T08:00:00Z")
DAYS = {"unit": "UNIT_DAY", "num": 1}


def group(name, shards, replicas):
    return {"metadata": {"name": name}, "catalog": "CATALOG_MEASURE", "resourceOpts": {
        "shardNum": shards, "replicas": replicas, "segmentInterval": DAYS, "ttl": {"unit": "UNIT_DAY", "num": 7}}}


def dealt(nodes, *groups, replicas=None):
    cluster = Cluster(nodes, T0, T0 - DAY, replicas=replicas)
    for each in groups:
        cluster.load("group", each)
    return cluster


def test_series_id_of_every_type():
    assert series_id("service_cpm_minute", ["entity_1"]) == 17296083384258897030
    assert series_id("service_cpm_minute", [1]) == 335438207074479228


def test_delimiters_in_an_entity_are_escaped():
    assert series_id("m", ["a|b"]) != series_id("m", ["a", "b"])


def test_shard_of_a_number():
    assert [shard_of("service_cpm_minute", [number], 2) for number in (1, 2, 3)] == [1, 0, 0]


def test_copies_lie_on_neighbours_and_never_twice_on_a_node():
    placement = dealt(3, group("g", 2, 1)).placement
    assert [placement.nodes_of("g", shard) for shard in (0, 1)] == [["d2", "d3"], ["d3", "d1"]]
    assert dealt(2, group("g", 1, 4)).placement.nodes_of("g", 0) == ["d2", "d1"]


def test_replicas_override_reaches_schema_and_placement():
    cluster = dealt(3, group("g", 2, 0), replicas=2)
    assert cluster.catalog.get("group", "", "g").resource_opts.replicas == 2
    assert len(cluster.placement.nodes_of("g", 0)) == 3


def test_a_new_group_deals_the_shards_anew():
    cluster = dealt(3, group("g", 1, 0))
    before = cluster.placement.nodes_of("g", 0)
    cluster.change("insert", "group", group("a", 1, 0), revision=T0)
    assert cluster.placement.nodes_of("g", 0) != before


def test_suite_rows_by_the_derived_list(shared):
    listed = json.loads((shared / "suite" / "derived" / "placement.json").read_text())["rows"]
    cluster = Cluster(1, T0, T0 - 30 * DAY)
    suite.load(cluster, shared / "suite", T0)
    ours = set()
    for (found_group, measure), table in cluster.nodes["d1"].store.tables().items():
        ours |= {(found_group, measure, row.series.id, row.series.shard, row.timestamp - T0)
                 for row in table.rows.values()}
    theirs = {(row["group"], row["measure"], int(row["series_id"]), row["shard"], row["ts_offset_ms"] * 1_000_000)
              for row in listed if "expired" not in row["data_file"]}
    assert ours == theirs
