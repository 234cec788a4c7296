# SPDX-License-Identifier: Apache-2.0
"""Answers to the recorded requests of a real liaison, compared with the recorded answers of real nodes.

Each recorded cluster loaded its rows around a T0 of its own, so the nodes here do the same at that T0 and requests
need no change. Columns, types, values and the order of rows must agree. Left out are versions, which are clock
readings of the recording, and the order of index-mode rows, which is not defined.
"""
import json

import grpc
import pytest
from google.protobuf import json_format

import answers
import frame3
import suite
from client import Client
from clock import DAY, SECOND, from_iso
from cluster import Cluster
from frame import ROLE_VERSION
from messages import cluster as wire
from messages import measure, property_
from registry import tag_of, to_property
from schema import KIND_MESSAGES, parse

RULE = {"type": "TYPE_INVERTED"}
BINDING = {"beginAt": "2021-01-01T00:00:00Z", "expireAt": "2121-01-01T00:00:00Z"}


def empty(nodes, t0, **options):
    return Cluster(nodes, t0, t0 - 30 * DAY, frame_versions=(3,), **options)


def with_suite(shared, nodes, t0, variant=None, **options):
    loaded = empty(nodes, from_iso(t0), **options)
    suite.load(loaded, shared / "suite", from_iso(t0), variant)
    return loaded


def index_tags(cluster, group, name, tags):
    """Gives a measure an index rule for each of the tags."""
    for number, tag in enumerate(tags):
        cluster.load("indexRule", {"metadata": {"group": group, "name": tag, "id": number + 1}, "tags": [tag], **RULE})
    cluster.load("indexRuleBinding", {"metadata": {"group": group, "name": name}, "rules": tags, **BINDING,
                                      "subject": {"catalog": "CATALOG_MEASURE", "name": name}})


def write(cluster, group, name, rows):
    view = cluster.catalog.measure(group, name)
    cluster.write(group, name, [suite.point(row, suite.schema_order(view), list(view.fields)) for row in rows])


def read_reply(folder, entry):
    """The recorded SendResponse; of large ones only the body was kept."""
    stem = folder / entry["request_file"].replace("internal", "reply")
    if stem.with_name(stem.name + ".bin").exists():
        return wire.SendResponse.FromString(stem.with_name(stem.name + ".bin").read_bytes())
    return wire.SendResponse(body=stem.with_name(stem.name + ".body.bin").read_bytes())


def layout(frame):
    return [(column.role, column.type, column.family, column.name) for column in frame.columns]


def rows(frame):
    kept = [column.cells for column in frame.columns if column.role != ROLE_VERSION]
    return [tuple(map(repr, row)) for row in zip(*kept)]


def compare_frames(body, recorded, ordered):
    assert bool(body) == bool(recorded)
    if not recorded:
        return
    ours, theirs = frame3.decode(body), frame3.decode(recorded)
    assert layout(ours) == layout(theirs)
    if ordered:
        assert rows(ours) == rows(theirs)
    else:
        assert sorted(rows(ours)) == sorted(rows(theirs))


def compare_measure(node, request, recorded):
    asked = measure.InternalQueryRequest.FromString(request)
    error, body = answers.measure_query(node, asked)
    assert error == recorded.error
    view = asked.request.groups and node.catalog.measure(asked.request.groups[0], asked.request.name)
    ordered = not (view and view.index_mode)
    if not asked.request.trace or recorded.error:
        compare_frames(body, recorded.body, ordered)
        return
    ours, theirs = (measure.InternalQueryResponse.FromString(data) for data in (body, recorded.body))
    assert {child.message for child in ours.trace.spans[0].children} \
        == {child.message for child in theirs.trace.spans[0].children}
    assert {tag.key: tag.value for tag in ours.trace.spans[0].tags}.keys() == {
        tag.key for tag in theirs.trace.spans[0].tags}
    compare_frames(ours.raw_frame_body, theirs.raw_frame_body, ordered)


def compare_topn(node, request, recorded):
    error, body = answers.topn_query(node, measure.TopNRequest.FromString(request))
    assert (error, bool(body)) == (recorded.error, bool(recorded.body))
    ours, theirs = (measure.TopNResponse.FromString(data) for data in (body, recorded.body))
    assert ours.HasField("trace") == theirs.HasField("trace")
    for response in (ours, theirs):
        response.ClearField("trace")
        for found in response.lists:
            found.ClearField("timestamp")
            for item in found.items:
                item.version = 0
    assert ours == theirs


COMPARE = {"v1:internal-measure-query": compare_measure, "v1:topN-query": compare_topn}


def compare_all(cluster, folder):
    """Compares every exchange below a folder; one failure does not hide the others."""
    failed, compared = [], 0
    for case in sorted(path.parent for path in folder.glob("*/index.json")):
        for entry in json.loads((case / "index.json").read_text()).get("nodes", []):
            request = (case / (entry["request_file"] + ".pb")).read_bytes()
            compared += 1
            try:
                COMPARE[entry["topic"]](cluster.nodes[entry["node"]], request, read_reply(case, entry))
            except AssertionError as error:
                failed.append(f"{case.name}/{entry['request_file']}: {error}")
    assert compared
    assert not failed, "\n".join(failed)


def test_cases(shared):
    compare_all(with_suite(shared, 2, "2026-11-30T11:06:00Z"), shared / "recorded" / "cases")


@pytest.mark.parametrize("folder", ["errors", "trace"])
def test_odd_requests_on_suite_data(shared, folder):
    compare_all(with_suite(shared, 2, "2026-11-30T11:10:00Z"), shared / "recorded" / "extra" / folder)


def test_one_replica_on_three_nodes(shared):
    """d3, then d2 were killed at the end of the recording; the nodes that answered did so as before."""
    compare_all(with_suite(shared, 3, "2026-11-30T11:26:00Z", replicas=1),
                shared / "recorded" / "extra" / "replicas-1-on-3-nodes")


def test_every_row_on_three_nodes(shared):
    compare_all(with_suite(shared, 3, "2026-11-30T11:25:00Z", variant="alt_replicated"),
                shared / "recorded" / "extra" / "replicated-3-nodes")


def test_all_types(shared):
    """A measure with every type of tag and field; four rows half an hour later came in a second write."""
    folder = shared / "recorded" / "extra" / "types"
    recorded = json.loads((folder / "schema-and-writes.json").read_text())
    cluster = with_suite(shared, 2, "2026-11-30T11:10:00Z")
    cluster.load("group", recorded["group"])
    cluster.load("measure", recorded["measure"])
    index_tags(cluster, "types", "mixed", ["rank", "label"])
    write(cluster, "types", "mixed", [each["dataPoint"] for each in recorded["writes"]])
    write(cluster, "types", "mixed", [
        {"timestamp": f"2026-11-30T11:44:0{number}Z", "fields": [{"int": {"value": number}}],
         "tagFamilies": [{"tags": [{"str": {"value": f"late{number}"}}, {"null": None}, {"int": {"value": number}}]}]}
        for number in range(4)])
    compare_all(cluster, folder)


def big_rows(series, wide):
    """Ten seconds of rows; only the first measure has the tag env, and values in opt."""
    base = from_iso("2026-11-30T11:31:00Z") // SECOND
    for second in range(10):
        for number in range(series):
            opt = {"str": {"value": f"o{number}"}} if wide else {"null": None}
            env = [{"str": {"value": f"e{number % 5}"}}] if wide else []
            yield {"timestamp": f"2026-11-30T11:31:{(base + second) % 60:02d}Z",
                   "tagFamilies": [{"tags": [{"str": {"value": f"s{number:03d}"}}, *env, opt]},
                                   {"tags": [{"int": {"value": number % 40 - 20}}]}],
                   "fields": [{"int": {"value": 10 * number + second}}, {"float": {"value": number + second / 10}}]}


def test_large_frames_and_two_groups_of_one_measure_name(shared):
    folder = shared / "recorded" / "extra" / "large-and-multi-group"
    cluster = empty(2, from_iso("2026-11-30T11:31:00Z"))
    for group, found in json.loads((folder / "schema.json").read_text())["measures"].items():
        cluster.load("group", {"metadata": {"name": group}, "catalog": "CATALOG_MEASURE", "resourceOpts": {
            "shardNum": 2, "segmentInterval": {"unit": "UNIT_DAY", "num": 1}, "ttl": {"unit": "UNIT_DAY", "num": 7}}})
        cluster.load("measure", found)
        index_tags(cluster, group, "m", ["rank"])
    write(cluster, "big1", "m", big_rows(150, True))
    write(cluster, "big2", "m", big_rows(30, False))
    compare_all(cluster, folder)


def test_schema_envelopes(shared):
    """A stored object has the fields, tags and order of the recorded ones, and the same JSON in its source."""
    lines = (shared / "recorded" / "schema" / "s1" / "messages.jsonl").read_text().splitlines()
    recorded = [line["message"]["property"] for line in map(json.loads, lines)
                if line["method"] == "InsertSchema" and line["from"] == "client"]
    compared = 0
    for document in recorded:
        theirs = json_format.ParseDict(document, property_.Property())
        kind = theirs.metadata.name
        if kind not in KIND_MESSAGES:
            continue
        ours = to_property(kind, parse(kind, tag_of(theirs, "source")))
        sources = [next(tag for tag in found.tags if tag.key == "source") for found in (ours, theirs)]
        assert json.loads(sources[0].value.str.value) == json.loads(sources[1].value.str.value)
        sources[0].value.str.value = sources[1].value.str.value
        ours.metadata.group = theirs.metadata.group
        assert ours == theirs
        compared += 1
    assert compared > 60


LEFT_OUT = {"public measure topic"}     # a topic that no liaison uses


def without_body(response):
    kept = wire.SendResponse.FromString(response.SerializeToString())
    kept.ClearField("body")
    return kept


def test_direct_requests(shared):
    """Whole messages of the query channel: topics, version handshake, bad bodies, several requests on a stream."""
    folder = shared / "recorded" / "extra" / "direct"
    node = with_suite(shared, 2, "2026-11-30T11:10:00Z").nodes["d1"]
    node.start()
    client = Client(node.address)
    for case in json.loads((folder / "index.json").read_text())["send"]:
        if case["name"] in LEFT_OUT:
            continue
        requests = [wire.SendRequest.FromString((folder / sent["file"]).read_bytes()) for sent in case["requests"]]
        call, responses, status = client.stream(*requests), [], "OK"
        try:
            responses.extend(call)
        except grpc.RpcError as error:
            status = error.code().name
            assert error.details() == case["rpc_status"][1]
        recorded = [wire.SendResponse.FromString((folder / reply["file"]).read_bytes()) for reply in case["responses"]]
        assert status == case["rpc_status"][0], case["name"]
        assert list(map(without_body, responses)) == list(map(without_body, recorded)), case["name"]
        for ours, theirs in zip(responses, recorded):
            if theirs.body[:1] == b"\x00":
                compare_frames(ours.body, theirs.body, ordered=True)
            else:
                assert bool(ours.body) == bool(theirs.body), case["name"]
    client.close()
    node.stop()
