# SPDX-License-Identifier: Apache-2.0
"""Random queries over random rows: the answer must be what the oracles compute from the rows alone.

    BYDB_RANDOM_QUERIES=20000    how many in all, 3000 if it is not set
    BYDB_RANDOM_SEED=7           of the first world; a failure names the seed of its world

Every world is asked through liaisons in each mode of --aggregation. Some requests are asked again twice, nodes
answering in an order of chance and then in the opposite one: the same bytes must come.
"""
import collections
import contextlib
import json
import math
import os
import random

import grpc
import pytest

from compare import same_list, without
from fixtures import require_binary, running, serving
from oracle import Oracle
from oracle_groups import Combined, folded, of_stream, stream_request
from proto import message, parse
from random_asker import Asker
from random_world import World
from topn_oracle import TopNOracle
from traces import spans_of, tags_of

QUERIES = int(os.environ.get("BYDB_RANDOM_QUERIES", 3000))
SEED = int(os.environ.get("BYDB_RANDOM_SEED", 1))
PER_WORLD = 250
WORLDS = max(1, -(-QUERIES // PER_WORLD))
MODES = ("exact", "rows", "slices", "pushdown")
TOPN_OF = {"exact": "distinct", "rows": "range", "slices": "distinct", "pushdown": "distinct"}
SHOWN_FAILURES = 3
TOPNS = 0.12     # of the requests are TopN
AGAIN = 0.1      # of the requests are asked in other orders of arrival
STEP_MS = 4      # from one node's answer to the next one's


def options_of(seed):
    """(nodes, their options)"""
    nodes = 1 + seed % 5
    version = ["4", "3", "mixed"][seed % 3]
    return nodes, ["--empty", "--nodes", nodes, "--frame-version", version, *(["--no-constants"] * (seed % 2))]


def mode_options(mode, calls):
    """slices: rows, in parts of the time range if there are more than a few in an answer."""
    if mode == "slices":
        return ["--aggregation=rows", f"--aggregation-slice-size={500 + 450 * calls}"]
    return [f"--aggregation={mode}"]


class Scene:
    def __init__(self, seed, nodes, world, clients):
        self.seed, self.nodes, self.world, self.clients = seed, nodes, world, clients
        self.oracle, self.topn_oracle = Oracle(), TopNOracle()
        world.load(self.oracle)
        world.load(self.topn_oracle)

    def pushes(self, asked, mode):
        """Do nodes aggregate? In mode exact only where no row can lie on two of them."""
        groups = [group for group in asked.document["groups"] if group in self.world.groups]
        array = any(self.world.tags[group].get((family["name"], tag), "").endswith("ARRAY")
                    for family in asked.document.get("groupBy", {}).get("tagProjection", {}).get("tagFamilies", [])
                    for tag in family["tags"] for group in groups)
        apart = all(self.world.replicas[group] == 0 for group in groups) and asked.after and not array
        return "agg" in asked.document and mode in ("exact", "pushdown") and apart

    def mode_of(self, asked, chance):
        """Partials are not asked for where they count rows twice."""
        if asked.topn:
            return chance.choice(MODES)
        left_out = [] if self.pushes(asked, "pushdown") else ["pushdown"]
        if asked.document.get("trace"):
            left_out.append("slices")     # a node's trace alone is as large as the parts
        return chance.choice([mode for mode in MODES if mode not in left_out])


@contextlib.contextmanager
def scene_of(seed):
    chance = random.Random(seed)
    nodes, node_options = options_of(seed)
    world = World(chance, nodes)
    versions = "--measure-frame-versions=3,4"
    with contextlib.ExitStack() as open_:
        sample, first = open_.enter_context(running(node_options, [versions], before=world.insert))
        liaisons = {mode: first if mode == "exact" else
                    open_.enter_context(serving(sample, [versions, f"--topn={TOPN_OF[mode]}",
                                                         *mode_options(mode, nodes * len(world.groups))]))
                    for mode in MODES}
        yield Scene(seed, sample, world, {mode: open_.enter_context(liaison.client())
                                          for mode, liaison in liaisons.items()})


def points_of(data, *left_out):
    points = [without(point, *left_out) for point in parse("measure.v1.QueryResponse", data).data_points]
    for field in (field for point in points for field in point.fields):
        if math.isnan(field.value.float.value):
            field.value.float.value = math.nan    # there are many; a sum of both infinities is one of them
    return points


def check_refused(client, request, refusal):
    """A traced request whose execution fails tells it in the trace."""
    code, found = client.query_error(request)
    if code is None:
        assert request.trace and found.trace.error and not found.data_points, found
        found = " ".join(tags_of(span).get("error_msg", "") for span in spans_of(found.trace))
    else:
        assert code == grpc.StatusCode.UNKNOWN, found
    assert refusal in found, f"{refusal!r} is not in {found!r}"


def check_stream(scene, client, request, data):
    asked = stream_request(request)
    everything = client.query(asked).data_points
    scene.oracle.answer(asked).check([without(point, "sid", "version") for point in everything])
    order_tag = None
    if request.order_by.index_rule_name:
        order_tag = scene.oracle.catalog.order_tag(list(request.groups), request.name, request.order_by.index_rule_name)
    same_list(points_of(data), of_stream(request, everything, order_tag))


def check_topn(scene, asked, mode, chance):
    client, request = scene.clients[mode], message("measure.v1.TopNRequest", asked.document)
    ranking = scene.topn_oracle.ranking(request, TOPN_OF[mode] == "range")
    kind = "float" if scene.topn_oracle.is_float(request) else "int"
    response = client.topn(request)
    assert response.HasField("trace") == request.trace and not response.trace.error
    assert len(response.lists) == (1 if ranking else 0)
    got = items_of(response)
    check_ranked([(tuple(_plain(tag.value) for tag in item.entity), _plain(item.value)) for item in got], ranking)
    assert len(got) == min(len(ranking), request.top_n)
    assert {item.value.WhichOneof("value") for item in got} <= {kind}
    if chance.random() < AGAIN:
        turns = turns_of(scene, request)
        chance.shuffle(turns)
        for order in (turns, turns[::-1]):
            scene.nodes.control(fault=in_turn(order))
            assert items_of(client.topn(request)) == got, f"answers came in the order {order}: another answer"
        scene.nodes.control(fault={"*": None})


def check_ranked(got, ranking):
    """Which of several entities of equal rank stand before the cut is open."""
    last = ranking[len(got) - 1][0] if got else None
    whole = len(got) == len(ranking)
    sure = [(entity, value) for rank, _, entity, value in ranking[:len(got)] if whole or rank != last]
    assert got[:len(sure)] == sure
    tied = collections.Counter((entity, value) for rank, _, entity, value in ranking if rank == last)
    assert whole or not collections.Counter(got[len(sure):]) - tied, f"{got} of {ranking}"


def items_of(response):
    return [item for found in response.lists for item in found.items]


def _plain(value):
    kind = value.WhichOneof("value")
    return None if kind == "null" else getattr(value, kind).value


def turns_of(scene, request):
    return [(node, group) for node in scene.nodes.names for group in dict.fromkeys(request.groups)]


def without_trace(data):
    response = parse("measure.v1.QueryResponse", data)
    response.ClearField("trace")
    return response.SerializeToString(deterministic=True)


def in_turn(turns):
    """Faults that make nodes answer one after the other, each group of each by itself."""
    faults = {}
    for place, (node, group) in enumerate(turns):
        faults.setdefault(node, []).append({"group": group, "delay_ms": STEP_MS * place})
    return faults


def partials_asked(scene):
    """{whether nodes were asked for partials}, since the last time that the counts were cleared."""
    return {entry["body"].get("aggReturnPartial", False)
            for node in scene.nodes.stats().values() for entry in node["requests"]}


def check_again(scene, client, request, data, partials, chance):
    """Whatever the order of arrival the same answer comes, and nodes aggregate when they are expected to."""
    turns = turns_of(scene, request)
    chance.shuffle(turns)
    scene.nodes.control(clear=None)
    for order in (turns, turns[::-1]):
        scene.nodes.control(fault=in_turn(order))
        again = client.query_bytes(request)
        assert without_trace(again) == without_trace(data), f"answers came in the order {order}: another answer"
        assert request.trace or again == data
    scene.nodes.control(fault={"*": None})
    assert partials_asked(scene) == partials, f"{partials} was expected: whether nodes aggregate"


def check_combined(scene, request, mode, points, partials):
    """Nodes aggregate; and where their partials do not tell, exact answers are made of rows."""
    combined = Combined(scene.oracle, request)
    if partials == {True}:
        assert mode == "pushdown" or not combined.is_open, "partials do not tell this"
        combined.check(points)
        return
    assert partials == {True, False} and mode == "exact" and combined.may_be_open, partials
    same_list(points, folded(scene.oracle, request))


def check(scene, asked, mode, chance):
    if asked.topn:
        check_topn(scene, asked, mode, chance)
        return
    client, request = scene.clients[mode], message("measure.v1.QueryRequest", asked.document)
    if asked.refusal:
        check_refused(client, request, asked.refusal)
        return
    pushes = scene.pushes(asked, mode)
    scene.nodes.control(clear=None)
    data = client.query_bytes(request)
    partials = partials_asked(scene) if pushes else {False}
    assert parse("measure.v1.QueryResponse", data).HasField("trace") == request.trace
    if chance.random() < AGAIN:
        check_again(scene, client, request, data, partials, chance)
    if pushes:
        check_combined(scene, request, mode, points_of(data), partials)
    elif "agg" in asked.document:
        same_list(points_of(data), folded(scene.oracle, request))
    elif "groupBy" in asked.document or "top" in asked.document:
        check_stream(scene, client, request, data)
    else:
        scene.oracle.answer(request).check(points_of(data, "sid", "version"))


def run(scene, count):
    """Texts of failures."""
    asker, failures = Asker(scene.world), []
    for number in range(count):
        asked = asker.topn() if asker.random.random() < TOPNS else asker.next()
        mode = scene.mode_of(asked, asker.random)
        try:
            check(scene, asked, mode, asker.random)
        except (AssertionError, grpc.RpcError) as why:
            failures.append(f"seed {scene.seed}, request {number}, --aggregation={mode}, "
                            f"{len(scene.nodes.names)} nodes\n{json.dumps(asked.document)}\n{why}")
            if len(failures) == SHOWN_FAILURES:
                break
    return failures


@pytest.mark.sanitize
@pytest.mark.seconds(300)
@pytest.mark.parametrize("seed", range(SEED, SEED + WORLDS))
def test_random(seed):
    require_binary()
    with scene_of(seed) as scene:
        failures = run(scene, min(PER_WORLD, QUERIES))
    assert not failures, "\n\n".join(failures)
