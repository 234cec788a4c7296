# SPDX-License-Identifier: Apache-2.0
"""A connection to a data node: probes, failures in flight, goodbyes, and the one answer of each call."""
import random
import time

import pytest
import yaml

from generation import Generation
from heartbeat import unless_silent
from process import wait_until

pytestmark = pytest.mark.sanitize
FAST_PROBES = "--data-client-health-check-interval=100ms"


@pytest.fixture
def pair(nodes, watch):
    """pair(flags) → (two sample nodes, a watcher that is connected to both)."""

    def start(*flags):
        sample = nodes("--nodes", 2)
        watcher = watch(sample, *flags)
        for name in ("d1", "d2"):
            watcher.node(name, "up")
        return sample, watcher

    return start


def test_an_answer(pair):
    sample, watcher = pair()
    assert watcher.ask("d1", timeout_ms=12_000)["bytes"] > 100
    live = watcher.wait_idle()
    assert live["node_links"] == 2
    request, = sample.stats()["d1"]["requests"]
    assert request["topic"] == "v1:internal-measure-query"
    assert (request["sender_role"], request["sender_node"], request["group"]) == ("liaison", "tester:18912", "sw_metric")
    assert not request["has_version_info"] and request["message_id"] == 0
    assert 5 < request["time_remaining"] <= 12


def test_no_body(pair):
    _, watcher = pair()
    assert 0 <= watcher.ask("d1", group="sw_metric", name="nobody_knows")["bytes"] < 200


# -------------------------------------------------------------------- failures


@pytest.mark.parametrize("fault, code, text", [
    ({"no_message": True}, "UNAVAILABLE", "EOF"),
    ({"status": {"code": "RESOURCE_EXHAUSTED", "message": "too busy"}}, "RESOURCE_EXHAUSTED",
     "rpc error: code = ResourceExhausted desc = too busy"),
    ({"status": {"code": "UNKNOWN", "message": "version incompatibility: 9"}}, "UNKNOWN",
     "rpc error: code = Unknown desc = version incompatibility: 9"),
    ({"status": {"code": "UNAVAILABLE", "message": "leaving"}}, "UNAVAILABLE",
     "rpc error: code = Unavailable desc = data node d1 (ADDRESS) was lost: leaving; try again: while it is away, "
     "other nodes are asked alone"),
])
def test_an_rpc_that_fails(pair, fault, code, text):
    sample, watcher = pair()
    sample.fault("d1", **fault)
    answer = watcher.ask("d1")
    assert (answer["code"], answer["text"]) == (code, text.replace("ADDRESS", sample.address("d1")))
    sample.fault("d1")
    assert watcher.ask("d1")["bytes"] > 0
    watcher.wait_idle()


def test_the_deadline(pair):
    sample, watcher = pair()
    sample.fault("d1", hang=True)
    answer = watcher.ask("d1", timeout_ms=300)
    assert answer["code"] == "DEADLINE_EXCEEDED"
    assert answer["text"].startswith("rpc error: code = DeadlineExceeded desc = context deadline exceeded: data node d1 "
                                     f"({sample.address('d1')}) did not answer within ")
    assert watcher.ask("d2")["bytes"] > 0
    watcher.wait_idle()


def test_a_message_that_is_not_admitted(pair):
    _, watcher = pair()
    answer = watcher.ask("d1", most=50)
    assert answer["code"] == "RESOURCE_EXHAUSTED"
    assert answer["text"].endswith("admitted are 50") and "rpc error" not in answer["text"]
    assert watcher.ask("d1")["bytes"] > 0
    watcher.wait_idle()


def test_cancelled(pair):
    sample, watcher = pair()
    sample.fault("d1", hang=True)
    number = watcher.send("d1")
    other = watcher.send("d2")
    watcher.answer(other)
    wait_until(lambda: sample.stats()["d1"]["requests"], what="the node being asked")
    watcher.tell(cancel=number)
    watcher.wait(lambda event: event.get("cancelled") == number)
    watcher.wait_idle()
    wait_until(lambda: sample.stats()["d1"]["cancelled_unanswered"], what="the node's call ending")
    assert not [event for event in watcher.events if event.get("answer") == number]


def test_closed_with_calls_in_flight(pair):
    sample, watcher = pair()
    sample.fault("d1", hang=True)
    numbers = [watcher.send("d1") for _ in range(3)]
    watcher.tell(close="d1")
    for number in numbers:
        answer = watcher.answer(number)
        assert answer["code"] == "UNAVAILABLE"
        assert answer["text"] == "rpc error: code = Canceled desc = grpc: the client connection is closing"
    watcher.wait_idle()


# -------------------------------------------------------------- down and up again


def test_the_connection_breaks(pair):
    sample, watcher = pair()
    sample.fault("d1", hang=True)
    numbers = [watcher.send("d1", timeout_ms=20000) for _ in range(20)]
    watcher.ask("d2")
    mark = watcher.mark()
    sample.control(cut=["d1"], fault={"d1": None})
    for number in numbers:
        answer = watcher.answer(number)
        assert answer["code"] == "UNAVAILABLE"
        assert answer["text"].startswith("rpc error: code = Unavailable desc = ")
    assert "circuit breaker" not in watcher.node("d1", "down", after=mark)["why"]
    assert watcher.node("d1", "up", after=mark)["was_down"]
    assert watcher.ask("d1")["bytes"] > 0
    watcher.wait_idle()


@unless_silent
def test_not_serving(pair):
    sample, watcher = pair(FAST_PROBES)
    assert not watcher.node("d1", "up")["was_down"]
    sample.fault("d1", delay_ms=2500, times=1)
    begun = watcher.send("d1", timeout_ms=20000)
    mark = watcher.mark()
    sample.control(health={"d1": "NOT_SERVING"})
    down = watcher.node("d1", "down", after=mark)
    assert down["why"] == "health check: status 2, expected 1 (SERVING)"
    answer = watcher.ask("d1")
    assert answer["code"] == "UNAVAILABLE"
    assert answer["text"] == "failed to publish message to d1: client not found for node d1"
    assert watcher.ask("d2")["bytes"] > 0
    assert watcher.answer(begun)["bytes"] > 0, "it may finish what it began"
    mark = watcher.mark()
    sample.control(health={"d1": "SERVING"})
    assert watcher.node("d1", "up", after=mark)["was_down"]
    assert watcher.ask("d1")["bytes"] > 0


@unless_silent
def test_a_hanging_node_ends_its_calls(pair):
    sample, watcher = pair(FAST_PROBES)
    sample.fault("d1", hang=True)
    number = watcher.send("d1", timeout_ms=60_000)
    wait_until(lambda: sample.stats()["d1"]["requests"], what="the node being asked")
    sample.control(health={"d1": "HANG"})
    answer = watcher.answer(number, 30)
    assert answer["code"] == "UNAVAILABLE" and " was lost: " in answer["text"], answer
    watcher.node("d1", "down")
    sample.control(fault={"d1": None}, health={"d1": "SERVING"})
    watcher.wait_idle()


def test_a_node_stops_and_starts(pair):
    sample, watcher = pair()
    mark = watcher.mark()
    sample.control(stop=["d1"])
    watcher.node("d1", "down", after=mark)
    assert watcher.ask("d2")["bytes"] > 0
    mark = watcher.mark()
    sample.control(start={"d1": {}})
    watcher.node("d1", "up", after=mark)
    assert watcher.ask("d1")["bytes"] > 0


def test_the_breaker(pair):
    sample, watcher = pair("--dst-broadcast-timeout=200ms")
    sample.fault("d1", hang=True)
    for _ in range(4):
        assert watcher.ask("d1", timeout_ms=250)["code"] == "DEADLINE_EXCEEDED"
    slow = watcher.send("d1", timeout_ms=1500)
    assert watcher.ask("d1", timeout_ms=250)["code"] == "DEADLINE_EXCEEDED"
    down = watcher.node("d1", "down")
    assert down["why"] == "circuit breaker open for node d1: 5 queries in a row were not answered"
    # Each second one query tries it.
    wait_until(lambda: watcher.ask("d1", timeout_ms=250)["text"]
               == "failed to publish message to d1: circuit breaker open for node d1", what="a query that is refused")
    assert watcher.answer(slow)["code"] == "DEADLINE_EXCEEDED"  # it was let run to its own end
    assert watcher.wait_idle()["links"] > 0
    sample.fault("d1")


def test_short_deadlines_open_no_breaker(pair):
    sample, watcher = pair("--dst-broadcast-timeout=5s")
    sample.fault("d1", hang=True)
    for _ in range(8):
        assert watcher.ask("d1", timeout_ms=50)["code"] == "DEADLINE_EXCEEDED"
    sample.fault("d1")
    assert watcher.ask("d1")["bytes"] > 0


# --------------------------------------------------------------------- goodbyes


def test_goodbye_costs_no_query(watch, tmp_path):
    old = Generation("old")
    path = tmp_path / "nodes.yaml"
    path.write_text(yaml.safe_dump({"nodes": [{"grpc_address": f"127.0.0.1:{old.port}"}]}))
    watcher = watch(path)
    watcher.node("d1", "up")
    slow = [watcher.send("d1", group="slow", timeout_ms=30_000) for _ in range(5)]
    wait_until(lambda: old.asked == 5, what="the node being asked")
    new = Generation("new", old.port)
    mark = watcher.mark()
    left = old.leave()
    for _ in range(100):
        assert "bytes" in watcher.ask("d1")
    watcher.wait_log("data node drains its connection")
    old.go.set()
    for number in slow:
        assert "bytes" in watcher.answer(number)
    left.wait()
    assert not [event for event in watcher.events[mark:] if event.get("state") == "down"]
    assert old.answered >= 5 and new.answered > 0
    watcher.wait_idle()
    wait_until(lambda: watcher.live()["node_links"] == 1, what="the old connection ending")
    watcher.finish()
    new.stop()


def test_goodbye_costs_no_query_that_waits_for_a_stream(watch, tmp_path):
    """The old generation takes four calls at a time; the others go on with the new one, none is asked twice."""
    old = Generation("old", streams=4)
    path = tmp_path / "nodes.yaml"
    path.write_text(yaml.safe_dump({"nodes": [{"grpc_address": f"127.0.0.1:{old.port}"}]}))
    watcher = watch(path, "--data-client-health-check-interval=0s")
    watcher.node("d1", "up")
    slow = [watcher.send("d1", group="slow", timeout_ms=30_000) for _ in range(4)]
    waiting = [watcher.send("d1", timeout_ms=30_000) for _ in range(20)]
    cancelled = watcher.send("d1", timeout_ms=30_000)
    wait_until(lambda: old.asked == 4 and watcher.live()["node_calls"] == 25, what="four calls being there")
    new = Generation("new", old.port)
    left = old.leave()
    watcher.tell(cancel=cancelled)
    watcher.wait_log("data node drains its connection")
    old.go.set()
    for number in slow + waiting:
        assert "bytes" in watcher.answer(number)
    left.wait()
    assert old.answered == 4 and 20 <= new.answered <= 21
    watcher.wait_idle()
    watcher.finish()
    new.stop()


# ------------------------------------------------------------------------- many


def test_many_calls_some_of_them_cancelled(pair):
    sample, watcher = pair()
    sample.fault("d2", delay_ms=20)
    chance = random.Random(1)
    numbers, cancelled = [], set()
    for _ in range(300):
        numbers.append(watcher.send(chance.choice(["d1", "d2"]), timeout_ms=20000))
        if chance.random() < 0.3:
            number = chance.choice(numbers)
            watcher.tell(cancel=number)
            cancelled.add(number)
    for number in numbers:
        if number not in cancelled:
            assert watcher.answer(number, 30)["bytes"] > 0
    watcher.wait_idle()


def test_calls_while_the_node_comes_and_goes(pair):
    sample, watcher = pair()
    numbers = []
    for _ in range(5):
        numbers += [watcher.send("d1", timeout_ms=5000) for _ in range(20)]
        sample.control(cut=["d1"])
        numbers += [watcher.send("d1", timeout_ms=5000) for _ in range(20)]
        time.sleep(0.3)
    answers = [watcher.answer(number) for number in numbers]
    assert all(answer.get("code") in (None, "UNAVAILABLE") for answer in answers)
    watcher.wait_idle()
