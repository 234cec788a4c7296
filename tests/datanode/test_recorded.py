# SPDX-License-Identifier: Apache-2.0
"""Answers to the recorded requests of a real liaison, compared with the recorded answers of real nodes.

The recorded cluster loaded the suite at T0, so the nodes here do the same at that T0 and requests need no change.
Versions are clock readings of the recording and are left out.
"""
import json

import pytest

import answers
import frame3
import suite
from clock import DAY, from_iso
from cluster import Cluster
from frame import ROLE_VERSION
from messages import cluster as wire
from messages import measure

T0 = from_iso("2026-11-30T11:06:00Z")


@pytest.fixture(scope="module")
def nodes(shared):
    loaded = Cluster(2, T0, T0 - 30 * DAY, frame_versions=(3,))
    suite.load(loaded, shared / "suite", T0)
    return loaded.nodes


def exchanges(folder):
    """The (node, request file, reply file) of a recorded case."""
    index = json.loads((folder / "index.json").read_text())
    for entry in index["nodes"]:
        stem = entry["request_file"]
        yield entry, (folder / f"{stem}.pb").read_bytes(), (folder / f"{stem.replace('internal', 'reply')}.bin").read_bytes()


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


def compare_items(body, recorded):
    ours, theirs = measure.TopNResponse.FromString(body), measure.TopNResponse.FromString(recorded)
    for response in (ours, theirs):
        for found in response.lists:
            for item in found.items:
                item.version = 0
    assert ours == theirs


def compare(nodes, folder):
    for entry, request, reply in exchanges(folder):
        node, recorded = nodes[entry["node"]], wire.SendResponse.FromString(reply)
        if entry["topic"] == "v1:topN-query":
            error, body = answers.topn_query(node, measure.TopNRequest.FromString(request))
            assert error == recorded.error
            compare_items(body, recorded.body)
            continue
        asked = measure.InternalQueryRequest.FromString(request)
        error, body = answers.measure_query(node, asked)
        assert error == recorded.error
        view = node.catalog.measure(asked.request.groups[0], asked.request.name)
        compare_frames(body, recorded.body, ordered=view is None or not view.index_mode)


def cases(shared):
    return sorted((shared / "recorded" / "cases").iterdir())


def test_cases(nodes, shared):
    failed = []
    for folder in cases(shared):
        try:
            compare(nodes, folder)
        except AssertionError as error:
            failed.append(f"{folder.name}: {error}")
    assert not failed, "\n".join(failed)
