# SPDX-License-Identifier: Apache-2.0
"""What the log tells whoever runs the program, and what a clean start does not say."""
import json

from asking import CPM, ask, query


def entries(cluster, words):
    return [entry for entry in cluster.liaison.log_entries() if words in entry["message"]]


def test_why_a_query_failed_is_there_for_who_looks(start):
    cluster = start(liaison_options=["--logging-level=debug"])
    code, text = cluster.client.query_error(query(ask("sw_latency", "no_such_measure")))
    assert code is not None
    line = json.loads(cluster.liaison.wait_log("query failed"))
    assert "no_such_measure" in json.dumps(line) and text.split(": ")[-1] in json.dumps(line), line


def test_which_node_said_what_is_there_for_who_looks(start):
    """The client gets the nodes' words alone, as from the Go liaison."""
    cluster = start(liaison_options=["--logging-level=debug"])
    cluster.nodes.control(fault={"d1": {"error": "the first disk"}, "d2": {"error": "the second disk"}})
    _, text = cluster.client.query_error(query(ask(*CPM)))
    assert text.endswith("the first disk; the second disk: invalid query message"), text
    told = {entry["node"]: entry["error"] for entry in cluster.liaison.log_entries()
            if entry["message"] == "data node answered with an error"}
    assert told == {"d1": "the first disk", "d2": "the second disk"}


def test_failures_of_clients_do_not_fill_the_log(cluster):
    assert cluster.client.query_error(query(ask("sw_latency", "no_such_measure")))[0] is not None
    assert not entries(cluster, "query failed")


def test_a_budget_without_room_for_a_query_is_told_at_start(start):
    cluster = start(liaison_options=["--allowed-bytes=1MiB"])
    line = cluster.liaison.wait_log("the budget is too small for queries")
    assert "--allowed-bytes" in line and "1048576" in line


def test_a_budget_with_room_is_not_complained_about(cluster):
    assert not entries(cluster, "budget is too small")


def test_refusals_are_counted_from_zero(start):
    cluster = start()
    for reason in ("no_place", "process_memory", "query_memory"):
        assert cluster.liaison.metric("bydb_refused_queries_total", reason=reason) == 0
