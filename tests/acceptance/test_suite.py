# SPDX-License-Identifier: Apache-2.0
"""BanyanDB's own acceptance suite over sample nodes, asked through a real gRPC client.

All its cases run on one, two, three and five nodes, in both frame versions, with no, one and two replicas;
those that aggregate run in each mode of --aggregation.
"""
import contextlib

import grpc
import pytest

from compare import same_set, without
from fixtures import require_binary, running, serving
from shared import HAS_SUITE, SUITE
from suitecases import (MANIFEST, check_answer, check_envelope, check_lists, document_of, request_of, wanted_points)

CLUSTERS = {f"{nodes}-nodes-v{version}-replicas-{replicas}": (nodes, version, replicas)
            for nodes in (1, 2, 3, 5) for version in (4, 3) for replicas in (0, 1, 2)}
MODES = ("exact", "rows", "pushdown")

CASES = MANIFEST["cases"]


def aggregates(case):
    return case["kind"] == "measure" and "agg" in document_of(case)


MEASURES = [(case["name"], mode) for case in CASES if case["kind"] == "measure"
            for mode in (MODES if aggregates(case) else MODES[:1])]
TOPNS = [case["name"] for case in CASES if case["kind"] == "topn"]
BY_NAME = {case["name"]: case for case in CASES}


class Scene:
    """Nodes, and a client of a liaison in each mode."""

    def __init__(self, nodes, replicas, clients):
        self.nodes, self.clients = nodes, clients
        self.copies = len(nodes.names) > 1 and replicas > 0


@pytest.fixture(scope="module", params=CLUSTERS.values(), ids=CLUSTERS.keys())
def scene(request):
    require_binary()
    nodes, version, replicas = request.param
    options = ["--suite", SUITE, "--nodes", nodes, "--frame-version", version, "--replicas", replicas]
    versions = f"--measure-frame-versions={'4' if version == 4 else '3,4'}"
    with contextlib.ExitStack() as open_:
        sample, first = open_.enter_context(running(options, [versions]))
        liaisons = {mode: first if mode == "exact" else
                    open_.enter_context(serving(sample, [versions, f"--aggregation={mode}"])) for mode in MODES}
        yield Scene(sample, replicas, {mode: open_.enter_context(liaison.client())
                                       for mode, liaison in liaisons.items()})


def by_keys(point, case):
    """The data point without the tags that are carried along."""
    document = document_of(case)
    group_by = document.get("groupBy", document.get("group_by", {}))
    projection = group_by.get("tagProjection", group_by.get("tag_projection", {}))
    families = projection.get("tagFamilies", projection.get("tag_families", []))
    keys = {tag for family in families[:1] for tag in family["tags"]}
    copy = without(point)
    for family in copy.tag_families:
        kept = [tag for tag in family.tags if tag.key in keys]
        del family.tags[:]
        family.tags.extend(kept)
    return copy


def check_combined(case, response):
    """Partials of several nodes tell neither the order of groups nor whose tags are carried along."""
    check_envelope(response)
    same_set([by_keys(point, case) for point in response.data_points],
             [by_keys(point, case) for point in wanted_points(case)])


@pytest.mark.skipif(not HAS_SUITE, reason="the acceptance suite is not here (BYDB_SHARED)")
@pytest.mark.parametrize("name, mode", MEASURES)
def test_measure(scene, name, mode):
    case, client = BY_NAME[name], scene.clients[mode]
    request = request_of(case, scene.nodes.t0)
    if case["flags"]["want_err"]:
        with pytest.raises(grpc.RpcError):
            client.query(request)
        return
    if mode == "pushdown" and scene.copies:
        assert client.query(request).data_points    # copies are counted as often as they are there
        return
    check = check_combined if mode == "pushdown" and len(scene.nodes.names) > 1 else check_answer
    response = client.query(request)
    check(case, response)
    assert not response.HasField("trace")
    traced = client.query(request_of(case, scene.nodes.t0, trace=True))
    check(case, traced)
    assert len(traced.trace.spans) >= 1


@pytest.mark.skipif(not HAS_SUITE, reason="the acceptance suite is not here (BYDB_SHARED)")
@pytest.mark.parametrize("name", TOPNS)
def test_topn(scene, name):
    case, client = BY_NAME[name], scene.clients["exact"]
    response = client.topn(request_of(case, scene.nodes.t0))
    check_lists(case, response)
    assert not response.HasField("trace")
    check_lists(case, client.topn(request_of(case, scene.nodes.t0, trace=True)))
