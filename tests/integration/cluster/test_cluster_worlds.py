# SPDX-License-Identifier: Apache-2.0
"""What the control plane learns: nodes that come and go, schemas that change, servers that fail."""
import json
import os
import pathlib
import subprocess
import time

import pytest
import yaml

import files
from process import wait_until
from watcher import BUILD

pytestmark = pytest.mark.sanitize
FAST_SYNC = "--schema-property-client-sync-interval=200ms"
DAY = {"unit": "UNIT_DAY", "num": 1}


def group(name):
    return {"metadata": {"name": name}, "catalog": "CATALOG_MEASURE",
            "resourceOpts": {"shardNum": 1, "segmentInterval": DAY, "ttl": {"unit": "UNIT_DAY", "num": 7}}}


def measure(owner, name, fields=("value",)):
    return {"metadata": {"group": owner, "name": name}, "entity": {"tagNames": ["id"]}, "interval": "1m",
            "tagFamilies": [{"name": "default", "tags": [{"name": "id", "type": "TAG_TYPE_STRING"}]}],
            "fields": [{"name": field, "fieldType": "FIELD_TYPE_INT", "encodingMethod": "ENCODING_METHOD_GORILLA",
                        "compressionMethod": "COMPRESSION_METHOD_ZSTD"} for field in fields]}


def change(sample, action, kind, document, **more):
    sample.control(schema=[{"action": action, "kind": kind, "object": document, **more}])


def names(world, **wanted):
    return [member["name"] for member in world["world"]
            if all(member[key] == value for key, value in wanted.items())]


def rewrite(discovery, addresses, **more):
    entries = [{"name": "x", "grpc_address": address, **more} for address in addresses]
    files.replace(discovery, yaml.safe_dump({"nodes": entries}))


def settled(watcher, servers):
    """A mark behind all that the start has made of worlds."""
    watcher.wait_log("schema server is read", count=servers)
    before = None
    while before != watcher.mark():
        before = watcher.mark()
        time.sleep(0.3)
    return before


def addresses(nodes):
    return [node["address"] for node in nodes.said["nodes"]]


# ------------------------------------------------------------------------ nodes


def test_the_first_world(nodes, watch):
    sample = nodes("--nodes", 3)
    sample.control(node={"d1": {"labels": {"type": "hot", "zone": "a"}}})
    watcher = watch(sample)
    world = watcher.world(lambda found: len(names(found, reached=True)) == 3)
    assert names(world) == ["d1", "d2", "d3"]
    assert world["world"][0]["labels"] == {"type": "hot", "zone": "a"}
    assert world["world"][0]["address"] == addresses(sample)[0]
    assert all(member["created"] for member in world["world"])
    assert {"sw_metric", "sw_latency", "sw_traffic"} <= set(world["groups"])
    assert {"sw_metric/service_cpm_minute", "sw_traffic/service_traffic"} <= set(world["measures"])
    assert world["rules"][0] > 0 and world["rules"][1] > 0 and world["rules"][2] > 0
    assert watcher.ready()["ready"]
    for name in ("d1", "d2", "d3"):
        watcher.node(name, "up")


def test_a_burst_makes_few_worlds(nodes, watch):
    sample = nodes("--nodes", 3)
    watcher = watch(sample)
    for name in ("d1", "d2", "d3"):
        watcher.node(name, "up")
    time.sleep(0.3)
    assert len([event for event in watcher.events if "world" in event]) <= 8


def test_a_node_leaves_and_returns(nodes, watch):
    sample = nodes("--nodes", 3)
    watcher = watch(sample)
    watcher.world(lambda world: len(names(world, reached=True)) == 3)
    mark = watcher.mark()
    rewrite(sample.discovery, addresses(sample)[:2])
    world = watcher.world(lambda found: names(found, left=True) == ["d3"], after=mark)
    assert names(world, left=False) == ["d1", "d2"]
    mark = watcher.mark()
    rewrite(sample.discovery, addresses(sample))
    watcher.world(lambda found: names(found, left=False, reached=True) == ["d1", "d2", "d3"], after=mark)
    watcher.node("d3", "up", after=mark)
    assert watcher.log_lines("the list of nodes has changed")[-1]["added"] == 1


def test_a_node_that_left_is_forgotten(nodes, watch):
    sample = nodes("--nodes", 2)
    watcher = watch(sample, "--node-forget-after=700ms")
    watcher.world(lambda world: len(names(world, reached=True)) == 2)
    mark = watcher.mark()
    rewrite(sample.discovery, addresses(sample)[:1])
    watcher.world(lambda world: names(world, left=True) == ["d2"], after=mark)
    watcher.world(lambda world: names(world) == ["d1"], after=mark)


@pytest.mark.parametrize("text", ["", "nodes: 3", "nodes: [", "nodes: [{name: d1}]", "\x00"])
def test_a_bad_file_changes_nothing(nodes, watch, text):
    sample = nodes("--nodes", 2)
    watcher = watch(sample)
    watcher.world(lambda world: len(names(world, reached=True)) == 2)
    mark = settled(watcher, 2)
    pathlib.Path(sample.discovery).write_text(text)
    watcher.wait_log("the list of nodes stays as it was")
    os.unlink(sample.discovery)
    time.sleep(0.4)
    assert not [event for event in watcher.events[mark:] if "world" in event]
    rewrite(sample.discovery, addresses(sample)[:1])
    watcher.world(lambda world: names(world, left=True) == ["d2"], after=mark)


def test_a_listed_node_that_does_not_answer(nodes, watch):
    sample = nodes("--nodes", 3)
    sample.control(stop=["d3"])
    watcher = watch(sample, "--node-discovery-grpc-timeout=1s")
    dead = addresses(sample)[2]
    world = watcher.world(lambda found: names(found, reached=True) == ["d1", "d2"])
    assert names(world, reached=False) == [dead]
    watcher.wait_log("a listed node does not say who it is")
    mark = watcher.mark()
    sample.control(start={"d3": {}})
    watcher.world(lambda found: names(found, reached=True) == ["d1", "d2", "d3"], after=mark)
    watcher.node("d3", "up", after=mark)


def test_one_node_at_two_addresses_counts_once(nodes, watch):
    sample = nodes("--nodes", 2)
    first, second = addresses(sample)
    rewrite(sample.discovery, [first, second, first.replace("127.0.0.1", "localhost")])
    watcher = watch(sample)
    watcher.wait_log("a node answers that has answered at another address already")
    watcher.world(lambda world: names(world, reached=True) == ["d1", "d2"])


def test_what_a_node_says_of_itself_counts(nodes, watch):
    """Roles decide who is asked for rows and who for schemas; queries go where the node says."""
    sample = nodes("--nodes", 3)
    sample.control(node={"d1": {"roles": ["META"]}, "d2": {"roles": ["DATA"]},
                         "d3": {"roles": ["META", "DATA"], "announced": "127.0.0.1:9"}})
    watcher = watch(sample)
    world = watcher.world(lambda found: len(names(found, reached=True)) == 2)
    assert {member["name"]: member["address"] for member in world["world"]} == {
        "d2": addresses(sample)[1], "d3": "127.0.0.1:9"}
    assert {line["node"] for line in watcher.log_lines("schema server is read")} <= {"d1", "d3"}
    watcher.node("d2", "up")
    watcher.node("d3", "down")


def test_a_node_that_was_started_anew_is_asked_again(nodes, watch):
    sample = nodes("--nodes", 2)
    watcher = watch(sample)
    watcher.world(lambda world: len(names(world, reached=True)) == 2)
    watcher.wait_log("schema server is read")
    sample.control(stop=["d1"], node={"d1": {"labels": {"type": "cold"}}})
    watcher.wait_log("schema server is down")
    mark = watcher.mark()
    sample.control(start={"d1": {}})
    world = watcher.world(lambda found: found["world"][0]["labels"] == {"type": "cold"}, after=mark)
    assert names(world, left=False) == ["d1", "d2"]


def test_nodes_are_asked_again_now_and_then(nodes, watch):
    sample = nodes("--nodes", 2)
    watcher = watch(sample, "--node-discovery-file-fetch-interval=300ms")
    watcher.world(lambda world: len(names(world, reached=True)) == 2)
    mark = settled(watcher, 2)
    time.sleep(1)
    assert not [event for event in watcher.events[mark:] if "world" in event]
    sample.control(node={"d2": {"labels": {"zone": "b"}}})
    watcher.world(lambda world: world["world"][1]["labels"] == {"zone": "b"}, after=mark)


# ---------------------------------------------------------------------- schemas


def test_a_measure_comes_changes_and_goes(nodes, watch):
    sample = nodes("--nodes", 2)
    watcher = watch(sample)
    watcher.world()
    change(sample, "insert", "group", group("live"))
    watcher.world(lambda world: "live" in world["groups"])
    change(sample, "insert", "measure", measure("live", "m"))
    first = watcher.world(lambda world: "live/m" in world["measures"])
    change(sample, "update", "measure", measure("live", "m", ["value", "total"]))
    second = watcher.world(lambda world: world["measures"].get("live/m", [0, 0])[1] == 2)
    assert second["measures"]["live/m"][0] > first["measures"]["live/m"][0]
    mark = watcher.mark()
    change(sample, "delete", "measure", measure("live", "m"))
    watcher.world(lambda world: "live/m" not in world["measures"], after=mark)
    change(sample, "delete", "group", group("live"))
    watcher.world(lambda world: "live" not in world["groups"], after=mark)
    change(sample, "insert", "group", group("live"))
    watcher.world(lambda world: "live" in world["groups"], after=watcher.mark() - 1)


def test_each_server_is_watched(nodes, watch):
    """One server may never push an object that another one has."""
    sample = nodes("--nodes", 3)
    watcher = watch(sample)
    watcher.world()
    for name in ("d1", "d2", "d3"):
        change(sample, "insert", "group", group(f"only-{name}"), nodes=[name])
        watcher.world(lambda world, wanted=f"only-{name}": wanted in world["groups"])


def test_what_no_event_told_is_found(nodes, watch):
    """Repairs are not pushed: a newer object is found by asking for news, an older one by the compare."""
    sample = nodes("--nodes", 2)
    watcher = watch(sample, FAST_SYNC)
    watcher.world()
    change(sample, "repair", "group", group("newer"), nodes=["d2"])
    watcher.world(lambda world: "newer" in world["groups"])
    change(sample, "repair", "group", group("older"), nodes=["d1"], revision=1_600_000_000_000_000_000)
    watcher.world(lambda world: "older" in world["groups"])
    assert watcher.log_lines("found what no event had told")[0]["fetched"] >= 1


def test_nothing_is_forgotten_while_a_server_is_down(nodes, watch):
    sample = nodes("--nodes", 2)
    watcher = watch(sample, FAST_SYNC)
    watcher.world()
    change(sample, "insert", "group", group("only-d1"), nodes=["d1"])
    watcher.world(lambda world: "only-d1" in world["groups"])
    mark = watcher.mark()
    sample.control(stop=["d1"])
    watcher.wait_log("schema server is down")
    time.sleep(2.5)
    assert all("only-d1" in event["groups"] for event in watcher.events[mark:] if "world" in event)


def test_a_server_goes_down_and_comes_up(nodes, watch):
    sample = nodes("--nodes", 2)
    watcher = watch(sample)
    watcher.world()
    change(sample, "insert", "group", group("before"))
    watcher.world(lambda world: "before" in world["groups"])
    sample.control(stop=["d1"])
    watcher.wait_log("schema server is down")
    change(sample, "insert", "group", group("meanwhile"))
    watcher.world(lambda world: "meanwhile" in world["groups"])
    mark = watcher.mark()
    change(sample, "delete", "group", group("before"))
    watcher.world(lambda world: "before" not in world["groups"], after=mark)
    read = len(watcher.log_lines("schema server is read"))
    sample.control(start={"d1": {}})
    watcher.wait_log("schema server is read", count=read + 1)
    change(sample, "insert", "group", group("after"), nodes=["d1"])
    world = watcher.world(lambda found: "after" in found["groups"])
    assert "before" not in world["groups"] and "meanwhile" in world["groups"]


def test_a_bad_object_is_told_once(nodes, watch):
    sample = nodes("--nodes", 3)
    watcher = watch(sample, FAST_SYNC)
    watcher.world()
    sample.put_schema("measure", "sw_metric", "broken", '{"metadata":{"group":"sw_metric","name":"broken"},"fields":7}')
    watcher.wait_log("a schema object is not accepted")
    change(sample, "insert", "group", group("fine"))
    world = watcher.world(lambda found: "fine" in found["groups"])
    assert "sw_metric/broken" not in world["measures"]
    time.sleep(2.5)
    told = watcher.log_lines("a schema object is not accepted")
    assert [line["id"] for line in told] == ["measure_sw_metric/broken"]


def test_an_object_that_one_server_has_damaged(nodes, watch):
    """The same revision is good elsewhere: what one server says first must not keep it away."""
    sample = nodes("--nodes", 3)
    watcher = watch(sample, FAST_SYNC)
    watcher.world()
    source = json.dumps(measure("sw_metric", "halved"))
    now = time.time_ns()
    sample.put_schema("measure", "sw_metric", "halved", source[:len(source) // 2], ["d1"], now)
    watcher.wait_log("a schema object is not accepted")
    sample.put_schema("measure", "sw_metric", "halved", source, ["d2"], now)
    watcher.world(lambda world: "sw_metric/halved" in world["measures"])
    assert [line["node"] for line in watcher.log_lines("a schema object is not accepted")] == ["d1"]


# ------------------------------------------------------------------------ start


def test_it_waits_for_the_cluster(nodes, watch):
    sample = nodes("--nodes", 2)
    sample.control(stop=["d1", "d2"])
    watcher = watch(sample, "--node-discovery-grpc-timeout=500ms")
    ready = watcher.ready()
    assert not ready["ready"]
    assert "none of the 2 listed nodes has said who it is" in ready["why"]
    watcher.wait_log("waiting for the cluster")
    sample.control(start={"d1": {}, "d2": {}})
    watcher.world()
    assert watcher.ready() == {"ready": True, "why": ""}


def test_it_says_that_nobody_knows_schemas(nodes, watch):
    sample = nodes("--nodes", 2)
    sample.control(node={"*": {"roles": ["DATA"]}})
    watcher = watch(sample)
    wait_until(lambda: "no property schema nodes found among 2 nodes" in watcher.ready()["why"],
               what="both being known")


def test_an_empty_list(watch, tmp_path):
    path = tmp_path / "nodes.yaml"
    path.write_text("nodes: []\n")
    assert "lists no nodes: expected one at least below the key nodes" in watch(path).ready()["why"]


def test_keys_that_are_slips(watch, nodes, tmp_path):
    """Another key in the place of `nodes` takes no node away; one within an entry is told once."""
    path = tmp_path / "nodes.yaml"
    path.write_text("node: []\n")
    watcher = watch(path, "--node-discovery-file-fetch-interval=100ms")
    assert "key node found, expected nodes" in watcher.ready()["why"]
    sample = nodes("--nodes", 1)
    address = yaml.safe_load(open(sample.discovery, encoding="utf-8"))["nodes"][0]["grpc_address"]
    path.write_text(f"nodes:\n- grpc_address: {address}\n  tls_enable: false\n")
    watcher.node("d1", "up")
    time.sleep(0.4)
    line, = watcher.log_lines("the list of nodes has a key that means nothing")
    assert "line 3: key tls_enable found" in line["error"]
    path.write_text("node: []\n")
    watcher.wait_log("the list of nodes stays as it was")
    assert watcher.ready()["ready"]


@pytest.mark.parametrize("flags, words", [
    ([], "--node-discovery-mode=none knows no data nodes: use file"),
    (["--node-discovery-mode=dns"], "--node-discovery-mode=dns without names: expected SRV names"),
    (["--node-discovery-mode=file"], "--node-discovery-mode=file without a file: expected --node-discovery-file-path"),
    (["--node-discovery-mode=etcd"], "--node-discovery-mode=etcd: expected dns, file or none"),
])
def test_modes_that_do_not_work(flags, words):
    program = BUILD / "tests/integration/cluster/cluster_watch"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    done = subprocess.run([program, *flags], capture_output=True, text=True, timeout=20,
                          stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 1
    assert words in done.stderr
