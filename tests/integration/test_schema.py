# SPDX-License-Identifier: Apache-2.0
"""Schemas that change, and schemas that make no sense."""
import time

import grpc
import pytest

from asking import CPM, CPM_ROWS, ask, by, query
from process import wait_until

UNKNOWN = grpc.StatusCode.UNKNOWN
DAY = {"unit": "UNIT_DAY", "num": 1}
GROUP = {"metadata": {"name": "fresh"}, "catalog": "CATALOG_MEASURE",
         "resourceOpts": {"shardNum": 1, "segmentInterval": DAY, "ttl": {"unit": "UNIT_DAY", "num": 7}}}
MEASURE = {"metadata": {"group": "fresh", "name": "thing"}, "entity": {"tagNames": ["id"]}, "interval": "1m",
           "tagFamilies": [{"name": "default", "tags": [{"name": "id", "type": "TAG_TYPE_STRING"}]}],
           "fields": [{"name": "value", "fieldType": "FIELD_TYPE_INT", "encodingMethod": "ENCODING_METHOD_GORILLA",
                       "compressionMethod": "COMPRESSION_METHOD_ZSTD"}]}
RULE = {"metadata": {"group": "fresh", "name": "id", "id": 1}, "tags": ["id"], "type": "TYPE_INVERTED"}
BINDING = {"metadata": {"group": "fresh", "name": "thing-rules"}, "rules": ["id"],
           "subject": {"catalog": "CATALOG_MEASURE", "name": "thing"},
           "beginAt": "2021-04-15T01:30:15.01Z", "expireAt": "2121-04-15T01:30:15.01Z"}


def change(action, *objects, nodes=None):
    return [{"action": action, "kind": kind, "object": document, **({"nodes": nodes} if nodes else {})}
            for kind, document in objects]


def known(client, document):
    return client.query_error(query(document))[0] is None


def until_known(client, document, wanted=True):
    wait_until(lambda: known(client, document) == wanted, 15, f"{document} being {'' if wanted else 'un'}known")


def well(client):
    return len(client.query(query(ask(*CPM, limit=1000))).data_points) == CPM_ROWS


def test_a_measure_comes_and_goes(start):
    cluster = start()
    asked = ask("fresh", "thing", ["default.id"], ["value"])
    assert not known(cluster.client, asked)
    cluster.nodes.control(schema=change("insert", ("group", GROUP), ("measure", MEASURE)))
    until_known(cluster.client, asked)
    ordered = {**asked, "orderBy": by("id")}
    assert not known(cluster.client, ordered)
    cluster.nodes.control(schema=change("insert", ("indexRule", RULE), ("indexRuleBinding", BINDING)))
    until_known(cluster.client, ordered)
    cluster.nodes.control(schema=change("delete", ("indexRuleBinding", BINDING)))
    until_known(cluster.client, ordered, wanted=False)
    assert known(cluster.client, asked)
    cluster.nodes.control(schema=change("delete", ("measure", MEASURE)))
    until_known(cluster.client, asked, wanted=False)
    assert well(cluster.client)


def test_a_revision_of_the_future(start):
    """It counts, as for all who read it, and hides nothing that is written later and that no event tells."""
    cluster = start(liaison_options=["--schema-property-client-sync-interval=1s"])
    year = 365 * 24 * 3600 * 10**9
    cluster.nodes.control(schema=change("insert", ("group", GROUP)))
    cluster.nodes.control(schema=[{**one, "revision": time.time_ns() + year}
                                  for one in change("insert", ("measure", MEASURE))])
    until_known(cluster.client, ask("fresh", "thing", ["default.id"], ["value"]))
    told = [entry for entry in cluster.liaison.log_entries() if "is dated in the future" in entry["message"]]
    assert [entry["id"] for entry in told] == ["measure_fresh/thing"] and told[0]["ahead_s"] > 360 * 24 * 3600
    later = {**MEASURE, "metadata": {"group": "fresh", "name": "later"}}
    cluster.nodes.control(schema=change("repair", ("measure", later)))
    until_known(cluster.client, ask("fresh", "later", ["default.id"], ["value"]))
    assert "the compare with the schema servers found" not in cluster.liaison.log
    assert well(cluster.client)


def test_a_group_goes_with_all_that_is_in_it(start):
    cluster = start()
    asked = ask("fresh", "thing", ["default.id"])
    cluster.nodes.control(schema=change("insert", ("group", GROUP), ("measure", MEASURE)))
    until_known(cluster.client, asked)
    cluster.nodes.control(schema=change("delete", ("group", GROUP)))
    until_known(cluster.client, asked, wanted=False)
    cluster.nodes.control(schema=change("delete", ("measure", MEASURE)))
    assert well(cluster.client)


def test_a_change_that_only_one_node_knows(start):
    cluster = start()
    asked = ask("fresh", "thing", ["default.id"])
    cluster.nodes.control(schema=change("insert", ("group", GROUP), ("measure", MEASURE), nodes=["d2"]))
    until_known(cluster.client, asked)


def test_rows_written_after_the_start(start):
    cluster = start(["--empty", "--nodes", 2, "--t0", "2026-03-02T08:00:00Z"],
                    before=lambda nodes: nodes.control(schema=change("insert", ("group", GROUP), ("measure", MEASURE))))
    asked = query(ask("fresh", "thing", ["default.id"], ["value"]))
    assert not cluster.client.query(asked).data_points
    cluster.nodes.control(write=[{"group": "fresh", "measure": "thing", "rows": [
        {"timestamp": "2026-03-02T07:59:00Z", "tagFamilies": [{"tags": [{"str": {"value": name}}]}],
         "fields": [{"int": {"value": number}}]} for number, name in enumerate("abc")]}])
    points = cluster.client.query(asked).data_points
    assert sorted(point.fields[0].value.int.value for point in points) == [0, 1, 2]


BROKEN = {
    "no JSON": "{",
    "not an object": "[]",
    "nothing": "",
    "a field of another type": '{"metadata":{"group":"fresh","name":"broken"},"tagFamilies":"many"}',
    "an unknown enum value": '{"metadata":{"group":"fresh","name":"broken"},"tagFamilies":[{"name":"default",'
                             '"tags":[{"name":"id","type":"TAG_TYPE_MADE_UP"}]}]}',
    "a number beyond 64 bits": '{"metadata":{"group":"fresh","name":"broken","modRevision":"99999999999999999999"}}',
    "a time that is none": '{"metadata":{"group":"fresh","name":"broken"},"updatedAt":"yesterday"}',
    "deeply nested": '{"a":' * 5000 + "1" + "}" * 5000,
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", BROKEN)
def test_a_malformed_object(start, name):
    """It is left out with a line in the log; everything else is there, also what comes later."""
    cluster = start(before=lambda nodes: nodes.put_schema("measure", "fresh", "broken", BROKEN[name]))
    line = cluster.liaison.wait_log("broken")
    assert '"warn"' in line or '"error"' in line, line
    assert well(cluster.client)
    cluster.nodes.control(schema=change("insert", ("group", GROUP), ("measure", MEASURE)))
    until_known(cluster.client, ask("fresh", "thing", ["default.id"]))


@pytest.mark.sanitize
def test_odd_measures_hurt_nobody(start):
    """Measures without fields, tags or an entity are accepted by nobody's query, but the others work."""
    odd = [("group", GROUP)] + [("measure", {**MEASURE, "metadata": {"group": "fresh", "name": name}, **more})
                                for name, more in {"bare": {"tagFamilies": [], "fields": []},
                                                   "no-entity": {"entity": {}}, "no-interval": {"interval": ""},
                                                   "x" * 300: {}, "ünïcode": {}}.items()]
    cluster = start(before=lambda nodes: nodes.control(schema=change("insert", *odd)))
    assert well(cluster.client)
    cluster.client.query_error(query(ask("fresh", "bare", ["default.id"])))
    assert known(cluster.client, ask("fresh", "ünïcode", ["default.id"]))
    assert well(cluster.client)
