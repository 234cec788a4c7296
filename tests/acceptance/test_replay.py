# SPDX-License-Identifier: Apache-2.0
"""Recorded exchanges of a real cluster, once more: nodes give the recorded answers, the program merges them.

Its answer must be the one that the reference computes for nodes in the order of their names, and one of
those that the Go liaison could have given. Where the program is meant to be better, DIFFERENCES says how.
The frames are sent as they were recorded, in version 3, and again in version 4.
"""
import contextlib
import copy
import json

import grpc
import pytest
from google.protobuf import json_format

import reduction
import reference
from compare import encoded, same_list
from fixtures import require_binary, running
from recorded import catalog_of, documents, measures
from reference import Rules
from shared import HAS_RECORDED
from traces import tree_of, words

COPIES = "all partials are combined: with --aggregation=pushdown copies of a row count as often as they are there"
SCALAR = "all partials are combined, those of the second node, too"
TYPED = "values are read by their own type, and the answer is of the schema's"

# case → why the answer is another one than Go's
DIFFERENCES = {
    "extra/errors/limit-max-offset-1": "limit + offset does not wrap at 2^32",
    "extra/large-and-multi-group/multi-fields-only": "rows of different groups are different rows",
    "extra/large-and-multi-group/multi-hidden-criteria": "types that differ between frames are promoted",
    "extra/large-and-multi-group/multi-rows-tag-all-null-in-one-group": "types that differ between frames are promoted",
    "extra/large-and-multi-group/multi-sum-by-svc": "partials of different groups are never taken for copies",
    "extra/large-and-multi-group/multi-top-hidden-field": "rows of several groups may be ranked by a hidden field",
    "extra/types/count-without-group-by": "types that differ between frames are promoted",
    "extra/types/hidden-criteria-count-without-group-by": SCALAR,
    "extra/types/mean-without-group-by-or-tags": SCALAR,
    "extra/types/hidden-criteria-max-f-by-svc": TYPED,
    "extra/types/hidden-criteria-min-f-by-svc": TYPED,
    "extra/types/hidden-criteria-sum-f-by-svc": TYPED,
    **dict.fromkeys((
        "cases/010-group-and-sum", "cases/011-group-and-count", "cases/039-float64-sum-top-3-by-value-desc",
        "cases/040-float64-count-top-3-by-value-desc", "cases/063-group-sum-with-filter",
        "cases/103-gen-count-group-order-desc", "extra/errors/agg-without-group-by",
        "extra/trace/agg-top-float64-sum-top-3-by-value-desc",
        "extra/replicas-1-on-3-nodes/agg-4-without-group-by-try-0",
        "extra/replicas-1-on-3-nodes/agg-4-without-group-by-try-1",
        "extra/replicas-1-on-3-nodes/agg-5-without-group-by-try-0",
        "extra/replicas-1-on-3-nodes/agg-5-without-group-by-try-1",
        "extra/replicas-1-on-3-nodes/float64-sum-top-3-by-value-desc", "extra/replicas-1-on-3-nodes/group-and-count",
        "extra/replicated-3-nodes/agg-4-without-group-by-try-0",
        "extra/replicated-3-nodes/agg-5-without-group-by-try-0",
        "extra/replicated-3-nodes/float64-sum-top-3-by-value-desc", "extra/replicated-3-nodes/group-and-count",
        "extra/replicated-3-nodes/group-and-sum"), COPIES),
}

# case → why the nodes are asked something else than by Go
REQUEST_DIFFERENCES = {
    "extra/errors/limit-max-offset-1": "limit + offset does not wrap at 2^32",
    "extra/errors/same-group-twice": "a group named twice is asked once",
    "extra/errors/top-number-0": "a top of no rows ranks nothing: not all rows are asked for",
    "extra/large-and-multi-group/multi-unknown-tag": "refused before any node is asked",
}

REVISIONS = {("suite", "service_cpm_minute"): 1796037035800643261, ("types", "mixed"): 1796037314453026680}

CASES = {case.name: case for case in measures()}
VERSIONS = {"as-recorded": (False, "3,4"), "in-version-4": (True, "4")}


def insertions(catalog):
    for kind, document in documents(catalog):
        change = {"action": "insert", "kind": kind, "object": document}
        revision = REVISIONS.get((catalog, document["metadata"]["name"]))
        yield {**change, "revision": revision} if revision else change


class Stage:
    """One recorded cluster at a time: the next one replaces it. Tests come in the order of their clusters."""

    def __init__(self):
        self._key, self._scene, self._open = None, None, contextlib.ExitStack()

    def scene(self, session, version):
        """(nodes, client, reencode)"""
        if self._key != (session, version):
            self.close()
            reencode, versions = VERSIONS[version]
            nodes, liaison = self._open.enter_context(running(
                ["--empty", "--nodes", session.nodes],
                [f"--measure-frame-versions={versions}", "--aggregation=pushdown"],
                before=lambda nodes: nodes.control(schema=list(insertions(session.catalog)))))
            self._scene = nodes, self._open.enter_context(liaison.client()), reencode
            self._key = session, version
        return self._scene

    def close(self):
        self._key = None
        self._open.close()


@pytest.fixture(scope="module")
def stage():
    require_binary()
    found = Stage()
    yield found
    found.close()


def parameters(*versions):
    return [pytest.param(version, case, id=f"{version}/{case.name}") for version in versions for case in CASES.values()]


def ask(scene, case):
    """((code, text), None) or (None, response). It is asked twice: the same bytes must come."""
    nodes, client, reencode = scene
    answers = []
    for _ in range(2):
        nodes.control(clear=None, replay=case.replay_command(reencode))
        answers.append(client.query_error(case.request, timeout=20))
    (code, first), (_, second) = answers
    if code is not None:
        return (code.name, first), None
    if not case.request.trace:
        assert first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)
    return None, first


def expected(case, rules):
    """What the reference says: data points, or a Failure."""
    try:
        return reduction.answer(case.request, catalog_of(case.session.catalog), case.frames(), rules)
    except reference.Failure as why:
        return why


def go_could_answer(case, points):
    wanted = [encoded(point) for point in points]
    catalog = catalog_of(case.session.catalog)
    return any([encoded(point) for point in reduction.answer(case.request, catalog, frames, Rules.GO)] == wanted
               for frames in reference.orders_of_nodes(case.frames()))


def refused_here(case):
    """Groups and aggregates are checked before the nodes do it, with a node's words, once for all of them."""
    return bool(case.node_errors) and (case.request.HasField("group_by") or case.request.HasField("agg"))


def check_error(case, error):
    assert error is not None, f"an answer instead of {case.error}"
    assert error[0] == case.error[0]
    if refused_here(case) and words(error[1]) != words(case.error[1]):
        before, said, _ = case.error[1].partition(case.node_errors[0])
        assert said and words(error[1]).startswith(words(before + said))
    else:
        assert words(error[1]) == words(case.error[1])


pytestmark = pytest.mark.skipif(not HAS_RECORDED, reason="the recorded exchanges are not here (BYDB_SHARED)")


@pytest.mark.parametrize("version, case", parameters(*VERSIONS))
def test_answer(stage, version, case):
    error, response = ask(stage.scene(case.session, version), case)
    if case.error and case.name not in DIFFERENCES:
        check_error(case, error)
        return
    assert error is None, error
    assert response.HasField("trace") == case.request.trace
    if not case.error:
        assert response.group_statuses == case.response.group_statuses
        assert response.trace.error == case.response.trace.error
        assert tree_of(response.trace) == tree_of(case.response.trace)
    if response.trace.error:
        assert not response.data_points
        return
    same_list(response.data_points, expected(case, Rules.OURS))
    assert go_says_so(case, response) == (case.name not in DIFFERENCES)


def go_says_so(case, response):
    return not case.error and go_could_answer(case, response.data_points)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES.values() if not case.error])
def test_reference(case):
    """The reference, which judges above, gives the recorded answer for some order of the nodes."""
    assert go_could_answer(case, case.response.data_points)


def request_document(internal, case):
    """What of a node's request is compared: all but the clamped begin, which names the moment of creation."""
    document = copy.deepcopy(internal)
    if case.request.group_mod_revisions:
        del document["request"]["timeRange"]["begin"]
    return document


def in_one_order(documents):
    """Groups are asked at the same time, so their order is open."""
    return sorted(documents, key=lambda document: json.dumps(document, sort_keys=True))


def as_we_ask(document, case):
    """The Go liaison's request to a node, changed where ours is another one on purpose."""
    catalog, request = catalog_of(case.session.catalog), document["request"]
    if all(catalog.measure(group, case.request.name).index_mode for group in case.request.groups):
        request["limit"] = 2**32 - 1    # nodes cut in the order of documents; the cut is made here, after sorting
    if "agg" in request:
        request["limit"] = 2**32 - 1    # a group that a node cuts off is missing in the sum over all
    elif "groupBy" in request:
        ask_for_all_rows(request)
    elif request.get("orderBy", {}).get("indexRuleName") and request["orderBy"].get("sort") != "SORT_DESC":
        request["limit"] = max(request["limit"], 10_000)    # nulls come first, and nodes put them last
    return document


def ask_for_all_rows(request):
    """Grouped, ranked and cut here: what a node leaves out may be the right row."""
    request["limit"] = 2**32 - 1
    (family,) = request.pop("groupBy")["tagProjection"]["tagFamilies"]
    request.pop("top", None)
    asked = request.setdefault("tagProjection", {}).setdefault("tagFamilies", [])
    if family["name"] not in [known["name"] for known in asked]:
        asked.append(family)


@pytest.mark.parametrize("version, case", parameters("as-recorded"))
def test_node_requests(stage, version, case):
    """Every node is asked what the Go liaison asked it."""
    nodes, client, reencode = stage.scene(case.session, version)
    nodes.control(clear=None, replay=case.replay_command(reencode))
    try:
        client.query(case.request, timeout=20)
    except grpc.RpcError:
        pass
    asked = {node: in_one_order(request_document(entry["body"], case) for entry in stats["requests"])
             for node, stats in nodes.stats().items() if stats["requests"]}
    if refused_here(case) and not asked:
        return
    wanted = {node: in_one_order(as_we_ask(request_document(json_format.MessageToDict(body), case), case)
                                 for body in bodies) for node, bodies in case.node_requests().items()}
    if case.name in REQUEST_DIFFERENCES:
        assert asked != wanted
    else:
        assert asked == wanted
