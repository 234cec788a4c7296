# SPDX-License-Identifier: Apache-2.0
"""Schemas and members that change while queries run.

BYDB_CHANGES is the number of random changes of the long test; more of them are for runs by hand.
"""
import os
import random
import threading
import time

import grpc
import pytest

from asking import CPM, CPM_ROWS, ask, query
from client import rfc3339
from load import Load, is_sanitized
from process import wait_until

DAY = {"unit": "UNIT_DAY", "num": 1}
CHANGES = int(os.environ.get("BYDB_CHANGES", 1_000 if is_sanitized() else 5_000))
THING = ("fresh", "thing")


def group(name="fresh"):
    return {"metadata": {"name": name}, "catalog": "CATALOG_MEASURE",
            "resourceOpts": {"shardNum": 1, "segmentInterval": DAY, "ttl": {"unit": "UNIT_DAY", "num": 7}}}


def measure(name="thing", tags=("id",), of="fresh"):
    return {"metadata": {"group": of, "name": name}, "entity": {"tagNames": ["id"]}, "interval": "1m",
            "tagFamilies": [{"name": "default", "tags": [{"name": tag, "type": "TAG_TYPE_STRING"} for tag in tags]}],
            "fields": [{"name": "value", "fieldType": "FIELD_TYPE_INT", "encodingMethod": "ENCODING_METHOD_GORILLA",
                        "compressionMethod": "COMPRESSION_METHOD_ZSTD"}]}


def change(action, kind, document):
    return {"action": action, "kind": kind, "object": document}


def thing(*tags):
    return query(ask(*THING, [f"default.{tag}" for tag in tags], ["value"]))


def grouped(*tags):
    """The liaison itself looks up the tags by which it groups; others are passed to the nodes as they are."""
    return query(ask(*THING, [f"default.{tag}" for tag in tags], ["value"],
                     groupBy={"tagProjection": {"tagFamilies": [{"name": "default", "tags": list(tags)}]},
                              "fieldName": "value"},
                     agg={"function": "AGGREGATION_FUNCTION_SUM", "fieldName": "value"}))


class Changer:
    """Changes the registry and waits until the liaison has seen it."""

    def __init__(self, cluster):
        self.cluster, self.took = cluster, []

    def known(self, *tags):
        """True: answered; False: refused by the liaison; None: by a node, which knows less or more than the liaison."""
        code, text = self.cluster.client.query_error(grouped(*tags))
        if code is None:
            return True
        return None if "fail to execute the query plan" in text else False

    def change(self, action, document, tags, expected, timeout=15):
        self.cluster.nodes.control(schema=[change(action, "measure", document)])
        began = time.monotonic()
        wait_until(lambda: self.known(*tags) is expected, timeout, f"{action} {tags}")
        self.took.append(time.monotonic() - began)


@pytest.mark.sanitize
def test_changes_are_seen_at_once_over_the_watch(start):
    """Nothing else would tell them: the next sync is an hour away."""
    cluster = start(["--empty", "--nodes", 2], ["--schema-property-client-sync-interval=1h"],
                    before=lambda nodes: nodes.control(schema=[change("insert", "group", group())]))
    changer = Changer(cluster)
    for _ in range(3):
        changer.change("insert", measure(), ["id"], True)
        changer.change("update", measure(tags=("id", "more")), ["id", "more"], True)
        changer.change("delete", measure(), ["id"], False)
    print("seen after", *(f"{took * 1000:.0f}" for took in changer.took), "ms")


@pytest.mark.sanitize
def test_changes_that_no_watch_tells_are_seen_by_the_sync(start):
    """What reaches a registry by repair is pushed to nobody. Without the flag the next sync is 30 s away."""
    cluster = start(["--empty", "--nodes", 2], ["--schema-property-client-sync-interval=2s"],
                    before=lambda nodes: nodes.control(schema=[change("insert", "group", group())]))
    changer = Changer(cluster)
    changer.change("repair", measure(), ["id"], True)
    changer.change("repair", measure(tags=("id", "more")), ["id", "more"], True)
    print("seen after", *(f"{took * 1000:.0f}" for took in changer.took), "ms")


@pytest.mark.sanitize
def test_changes_while_the_watches_are_cut(start):
    """They are pushed to nobody; whoever connects again reads all, long before the next sync (30 s)."""
    cluster = start(["--empty", "--nodes", 2],
                    before=lambda nodes: nodes.control(schema=[change("insert", "group", group())]))
    changer = Changer(cluster)
    cluster.liaison.wait_metric(lambda value: value == 2, "bydb_schema_servers", state="complete")

    def cut_and(action, document, tags, expected):
        read = cluster.liaison.log.count("schema server is read")
        cut = cluster.nodes.control(cut_schema=cluster.nodes.names)["cut_schema"]
        assert all(connections >= 1 for connections in cut.values()), cut
        changer.change(action, document, tags, expected)
        wait_until(lambda: cluster.liaison.log.count("schema server is read") >= read + 2, 15, "both being watched")
    cut_and("insert", measure(), ["id"], True)
    cut_and("update", measure(tags=("id", "more")), ["id", "more"], True)
    cut_and("delete", measure(), ["id"], False)
    print("seen after", *(f"{took * 1000:.0f}" for took in changer.took), "ms")


@pytest.mark.sanitize
def test_an_answer_is_of_one_catalog(start):
    """The measure has now the tag x and now the tag y; each answer is of the one or the other, or says what is not
    known."""
    def prepare(nodes):
        nodes.control(schema=[change("insert", "group", group()), change("insert", "measure", measure(tags=("id", "x")))])
        nodes.control(write=[{"group": "fresh", "measure": "thing", "rows": [
            {"timestamp": rfc3339(int(time.time()) * 1000 - 1000 * number),
             "tagFamilies": [{"tags": [{"str": {"value": f"id{number}"}}, {"str": {"value": "text"}}]}],
             "fields": [{"int": {"value": number}}]} for number in range(50)]}])
    cluster = start(["--empty", "--nodes", 2], before=prepare)
    requests = [thing("id", "x"), thing("id", "y"), thing("id")]
    names = [["id", "x"], ["id", "y"], ["id"]]
    with Load(cluster.liaison.address, requests, clients=4, rate=20 if is_sanitized() else 80) as load:
        for number in range(30):
            tags = ("id", "y") if number % 2 == 0 else ("id", "x")
            cluster.nodes.control(schema=[change("update", "measure", measure(tags=tags))])
            time.sleep(0.1)
        cluster.nodes.control(schema=[change("delete", "measure", measure())])
        time.sleep(0.3)
        cluster.nodes.control(schema=[change("insert", "measure", measure(tags=("id", "x")))])
        time.sleep(0.5)
    from proto import parse
    answered = [outcome for outcome in load.outcomes if outcome.code is None]
    assert answered
    for outcome in answered:
        for point in parse("measure.v1.QueryResponse", outcome.answer).data_points:
            assert [tag.key for family in point.tag_families for tag in family.tags] == names[outcome.request]
    for outcome in load.failed():
        assert outcome.code == grpc.StatusCode.UNKNOWN, (outcome.code, outcome.answer)
        assert "thing" in outcome.answer or "fresh" in outcome.answer, outcome.answer
    assert not [outcome for outcome in load.failed() if outcome.request == 2 and "doesn't exist" not in outcome.answer]


class Chaos:
    """Random changes: measures of a few names and their groups; members that leave, come and go down."""

    def __init__(self, nodes, seed):
        self.nodes, self.random = nodes, random.Random(seed)
        self.known, self.done = set(), 0

    def choose(self, kind, name):
        """What can be done with it as things stand."""
        if (kind, name) not in self.known:
            self.known.add((kind, name))
            return "insert"
        action = self.random.choice(["update", "update", "delete"])
        if action == "delete":
            self.known.remove((kind, name))
        return action

    def schema_change(self):
        number = self.random.randrange(20)
        of = f"chaos{number % 4}"
        if self.random.random() < 0.05 or ("group", of) not in self.known:
            return change(self.choose("group", of), "group", group(of))
        tags = ["id"] + self.random.sample(["a", "b", "c", "d"], self.random.randrange(5))
        return change(self.choose("measure", number), "measure", measure(f"m{number}", tags, of))

    def schema(self, count):
        self.nodes.control(schema=[self.schema_change() for _ in range(count)])
        self.done += count

    def members(self):
        step = self.random.randrange(3)
        if step == 0:
            self.nodes.control(discovery=["d1", "d2"])
        elif step == 1:
            self.nodes.control(discovery=["d1", "d2", "d3"])
        else:
            self.nodes.control(stop=["d3"], start={"d3": {"port": self.random.choice(["same", "new"])}})
            self.nodes.control(discovery=["d1", "d2", "d3"])
        self.done += 1


def open_files(liaison):
    return len(os.listdir(f"/proc/{liaison.process.pid}/fd"))


def resident(liaison):
    with open(f"/proc/{liaison.process.pid}/status") as status:
        return next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmRSS"))


@pytest.mark.sanitize
@pytest.mark.seconds(max(300, CHANGES // 50))
def test_many_random_changes(start):
    """The third node has no schema registry, so that its coming and going lists no schemas anew each time."""
    cluster = start(["--demo", "--nodes", 3],
                    before=lambda nodes: nodes.control(node={"d3": {"roles": ["DATA"]}}))
    chaos = Chaos(cluster.nodes, seed=int(os.environ.get("BYDB_SEED", 1)))
    now = int(time.time() * 1000)
    request = query({**ask(*CPM, limit=1000), "timeRange": {"begin": rfc3339(now - 7_200_000),
                                                            "end": rfc3339(now + 7_200_000)}})
    assert len(cluster.client.query(request).data_points) == CPM_ROWS
    time.sleep(1)
    before = open_files(cluster.liaison), cluster.liaison.metric("bydb_live_links"), resident(cluster.liaison)
    stop, asked, failed, wrong = threading.Event(), [], [], []

    def look():
        with cluster.liaison.client() as client:
            while not stop.wait(0.05):
                asked.append(time.monotonic())
                try:
                    response, trailers = client.query_with_trailers(request)
                except grpc.RpcError as why:
                    failed.append(why.details())
                    continue
                if len(response.data_points) != CPM_ROWS and "banyandb-incomplete" not in trailers:
                    wrong.append(len(response.data_points))
    looker, began = threading.Thread(target=look), time.monotonic()
    looker.start()
    try:
        while chaos.done < CHANGES:
            chaos.schema(CHANGES // 100)
            chaos.members()
    finally:
        stop.set()
        looker.join()
    print(f"{chaos.done} changes in {time.monotonic() - began:.0f} s; {len(failed)} of {len(asked)} queries failed {failed[:3]}")
    assert not wrong, f"rows missing unsaid: {wrong[:5]}"
    # All sample nodes are one process: when it is silent for the two seconds that a health check may take, nobody is
    # there to be asked, and each of them is said to be down. Nothing else may fail, and that seldom.
    silent = all(any(f"node={name}" in line or f'"node":"{name}"' in line for line in cluster.liaison.log.splitlines()
                     if "health check: not answered" in line) for name in cluster.nodes.names[:2])
    assert all(silent and "no active nodes" in text for text in failed), failed[:5]
    assert len(failed) <= len(asked) / 20, failed[:5]
    cluster.nodes.control(discovery=["d1", "d2", "d3"])
    cluster.liaison.wait_ready(cluster.nodes.names)
    cluster.liaison.expect_nothing_alive()
    wait_until(lambda: (open_files(cluster.liaison), cluster.liaison.metric("bydb_live_links")) == before[:2], 20,
               f"as many files and links as before: {before[:2]}")
    print(f"resident MiB: {before[2]} before, {resident(cluster.liaison)} after")
    assert len(cluster.client.query(request).data_points) == CPM_ROWS
