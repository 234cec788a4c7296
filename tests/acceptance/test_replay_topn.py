# SPDX-License-Identifier: Apache-2.0
"""Recorded TopN exchanges of a real cluster, once more: nodes give the recorded lists, the program folds them.

Its answer must hold what the Go liaison's held, best items first; ties stood there in any order.
"""
import pytest
from google.protobuf import json_format

from compare import encoded
from fixtures import require_binary, running
from recorded import documents, topns
from shared import HAS_RECORDED
from traces import tree_of

CASES = topns()

pytestmark = pytest.mark.skipif(not HAS_RECORDED, reason="the recorded exchanges are not here (BYDB_SHARED)")


@pytest.fixture(scope="module")
def replaying(request):
    """(nodes, client) of a recorded cluster."""
    require_binary()
    session = request.param

    def load(nodes):
        nodes.control(schema=[{"action": "insert", "kind": kind, "object": document}
                              for kind, document in documents(session.catalog)])
    with running(["--empty", "--nodes", session.nodes], before=load) as (nodes, liaison):
        with liaison.client() as client:
            yield nodes, client


def parameters(wanted=lambda case: True):
    return [pytest.param(case.session, case, id=case.name) for case in CASES if wanted(case)]


def replay(replaying, case):
    """(code name, text) or the response."""
    nodes, client = replaying
    nodes.control(clear=None, replay=case.replay_command(False))
    code, found = client.topn_error(case.request, timeout=20)
    return found if code is None else (code.name, found)


def items_of(response):
    return [item for found in response.lists for item in found.items]


@pytest.mark.parametrize("replaying, case", parameters(), indirect=["replaying"], scope="module")
def test_answer(replaying, case):
    found = replay(replaying, case)
    if case.error:
        assert found == case.error
        return
    assert found.HasField("trace") == case.request.trace
    assert found.trace.error == case.response.trace.error
    assert tree_of(found.trace, nodes=False) == tree_of(case.response.trace)
    assert len(found.lists) == len(case.response.lists)
    assert sorted(map(encoded, items_of(found))) == sorted(map(encoded, items_of(case.response)))
    values = [item.value.int.value + item.value.float.value for item in items_of(found)]
    assert values == sorted(values, reverse=case.request.field_value_sort == 1)


@pytest.mark.parametrize("replaying, case", parameters(lambda case: not case.error), indirect=["replaying"],
                         scope="module")
def test_node_requests(replaying, case):
    """Every node is asked what the Go liaison asked it, but for each group by itself."""
    nodes, _ = replaying
    replay(replaying, case)
    wanted = {}
    for node, (body,) in case.node_requests().items():
        document = json_format.MessageToDict(body)
        wanted[node] = [{**document, "groups": [group]} for group in body.groups]
    asked = {node: sorted((entry["body"] for entry in stats["requests"]), key=lambda body: body["groups"])
             for node, stats in nodes.stats().items() if stats["requests"]}
    assert asked == wanted
