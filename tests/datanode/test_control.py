# SPDX-License-Identifier: Apache-2.0
"""The program as a process: its first line, and everything the control port can do to its nodes."""
import base64
import concurrent.futures
import json
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import grpc
import pytest
import yaml

import frame3
from client import Client
from clock import MINUTE, from_iso
from frame import MAGIC
from messages import cluster, measure, set_nanoseconds

HERE = pathlib.Path(__file__).resolve().parent
T0 = from_iso("2026-05-04T10:00:00Z")


class Program:
    """A running `tests/datanode --demo` and its control port."""

    def __init__(self, *options):
        self.process = subprocess.Popen([sys.executable, str(HERE), "--demo", "--t0", "2026-05-04T10:00:00Z",
                                         "--exit-with-stdin", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.described = json.loads(self.process.stdout.readline())

    def control(self, **commands):
        asked = urllib.request.Request(self.described["control"], json.dumps(commands).encode())
        with urllib.request.urlopen(asked) as answer:
            return json.load(answer)

    def address(self, name="d1"):
        """Where a node is now: tests move nodes."""
        return self.control(stats=None)["stats"][name]["address"]

    def end(self):
        self.process.stdin.close()
        return self.process.wait(10)


@pytest.fixture(scope="module")
def shared_program():
    program = Program("--nodes", "2", "--frame-version", "3")
    yield program
    assert program.end() == 0


@pytest.fixture
def program(shared_program):
    yield shared_program
    shared_program.control(fault={"*": None}, health={"*": "SERVING"}, synthetic={"*": None}, replay=None, clear=None)


@pytest.fixture
def client(program):
    connection = Client(program.address())
    yield connection
    connection.close()


def request():
    asked = measure.QueryRequest(groups=["sw_metric"], name="service_cpm_minute", limit=7)
    set_nanoseconds(asked.time_range.begin, T0 - 60 * MINUTE)
    set_nanoseconds(asked.time_range.end, T0)
    asked.tag_projection.tag_families.add(name="default", tags=["service_id"])
    asked.field_projection.names.append("value")
    return asked


def until(program, accepted):
    """The stats of d1 as soon as they are accepted."""
    deadline = time.monotonic() + 10
    while not accepted(stats := program.control(stats=None)["stats"]["d1"]):
        assert time.monotonic() < deadline, stats
        time.sleep(0.01)
    return stats


def failure(call):
    with pytest.raises(grpc.RpcError) as error:
        call()
    return error.value


def test_the_first_line_and_the_discovery_file(program):
    listed = yaml.safe_load(pathlib.Path(program.described["discovery"]).read_text())["nodes"]
    assert [node["name"] for node in listed] == [node["name"] for node in program.described["nodes"]] == ["d1", "d2"]
    assert [node["grpc_address"] for node in listed] == [program.address("d1"), program.address("d2")]
    assert program.described["t0"] == "2026-05-04T10:00:00Z"


def test_unknown_commands_and_bad_arguments_are_refused(program):
    for command in ({"dance": {}}, {"fault": {"d1": {"no_such": 1}}}, {"fault": {"d9": None}}):
        with pytest.raises(urllib.error.HTTPError) as error:
            program.control(**command)
        assert error.value.code == 400 and json.load(error.value)["error"]


@pytest.mark.parametrize("fault, check", [
    ({"error": "no disk"}, lambda good, bad: bad.error == "no disk" and not bad.body),
    ({"truncate": 20}, lambda good, bad: bad.body == good.body[:20]),
    ({"truncate": -1}, lambda good, bad: bad.body == good.body[:-1]),
    ({"version_byte": 9}, lambda good, bad: bad.body[4] == 9 and bad.body[5:] == good.body[5:]),
    ({"mutate": 5, "seed": 2}, lambda good, bad: bad.body != good.body and len(bad.body) == len(good.body)),
    ({"garbage": 33}, lambda good, bad: len(bad.body) == 33 and not bad.body.startswith(MAGIC)),
    ({"garbage": 33, "version_byte": 4}, lambda good, bad: len(bad.body) == 33 and bad.body[:5] == MAGIC + b"\x04"),
    ({"huge": "rows"}, lambda good, bad: bad.body[:5] == good.body[:5] and bad.body[5:13] == b"\x80" * 8),
    ({"data_points": True}, lambda good, bad: measure.InternalQueryResponse.FromString(bad.body).data_points),
    ({"trace_error": True}, lambda good, bad: measure.InternalQueryResponse.FromString(bad.body).trace.error),
    ({"group": "other", "error": "x"}, lambda good, bad: bad == good),
    ({"topic": "topn", "error": "x"}, lambda good, bad: bad == good),
])
def test_damaged_answers(program, client, fault, check):
    good = client.query(request())
    program.control(fault={"d1": fault})
    assert check(good, client.query(request()))


@pytest.mark.parametrize("fault, check", [
    ({"version_byte": 9}, lambda good, bad: bad[4] == 9 and bad[:4] + bad[5:] == good[:4] + good[5:]),
    ({"huge": "rows"}, lambda good, bad: bad[:5] == good[:5] and bad[5:13] == b"\x80" * 8),
])
def test_the_frame_of_a_traced_answer_is_damaged_too(program, client, fault, check):
    traced = request()
    traced.trace = True
    good = measure.InternalQueryResponse.FromString(client.query(traced).body)
    program.control(fault={"d1": fault})
    bad = measure.InternalQueryResponse.FromString(client.query(traced).body)
    assert good.raw_frame_body.startswith(MAGIC) and bad.trace.spans
    assert check(good.raw_frame_body, bad.raw_frame_body)


def test_a_fault_for_one_request(program, client):
    program.control(fault={"d1": {"error": "once", "times": 1}})
    assert [client.query(request()).error for _ in range(2)] == ["once", ""]


def test_a_status_and_a_stream_without_message(program, client):
    program.control(fault={"d1": [{"status": {"code": "UNAVAILABLE", "message": "later"}, "times": 1},
                                  {"no_message": True}]})
    error = failure(lambda: client.query(request()))
    assert (error.code(), error.details()) == (grpc.StatusCode.UNAVAILABLE, "later")
    body = measure.InternalQueryRequest(request=request()).SerializeToString()
    assert client.send(cluster.SendRequest(topic="v1:internal-measure-query", body=body)) == []


def test_delay_and_hang_and_who_gave_up(program, client):
    program.control(fault={"d1": [{"delay_ms": 200, "times": 1}, {"hang": True}]})
    began = time.monotonic()
    client.query(request())
    assert 0.2 <= time.monotonic() - began
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        failed = pool.submit(failure, lambda: client.query(request(), timeout=4))
        until(program, lambda stats: stats["sends"] == 2)
        assert failed.result().code() == grpc.StatusCode.DEADLINE_EXCEEDED
    counted = until(program, lambda stats: stats["cancelled_unanswered"])
    assert (counted["sends"], counted["streams"], counted["cancelled_unanswered"]) == (2, 2, 1)


def test_an_answer_held_until_the_faults_change(program, client):
    program.control(fault={"d1": {"hold": True}})
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.query, request())
        until(program, lambda stats: stats["requests"])
        assert not answer.done()
        program.control(fault={"d1": None})
        assert answer.result(10) == client.query(request())


def test_the_request_log(program, client):
    client.query(request())
    logged, = program.control(stats=None)["stats"]["d1"]["requests"]
    assert (logged["topic"], logged["message_id"]) == ("v1:internal-measure-query", 7)
    assert not logged["has_version_info"]
    assert logged["body"]["request"]["limit"] == 7 and 5 < logged["time_remaining"] < 11


def test_health(program, client):
    program.control(health={"d1": "NOT_SERVING"})
    assert client.check() == 2
    program.control(health={"d1": "HANG"})
    assert failure(lambda: client.check(timeout=0.3)).code() == grpc.StatusCode.DEADLINE_EXCEEDED


def test_cut_connections(program, client):
    client.query(request())
    assert program.control(cut=["d1"])["cut"]["d1"] >= 1
    program.control(fault={"d1": {"close": True, "times": 1}})
    assert failure(lambda: [client.query(request()) for _ in range(3)]).code() == grpc.StatusCode.UNAVAILABLE


def test_cutting_leaves_no_descriptors(program):
    """There are files, pipes and events among them, which are passed over."""
    def open_now():
        return len(list(pathlib.Path(f"/proc/{program.process.pid}/fd").iterdir()))
    before = open_now()
    for _ in range(4):
        program.control(cut=["d1", "d2"])
    assert open_now() < before + 5      # a connection to the control port may be on its way out


def test_down_and_up_again(program, client):
    before = program.address("d2")
    second = Client(before)
    program.control(stop=["d2"])
    assert failure(second.check).code() == grpc.StatusCode.UNAVAILABLE
    program.control(start={"d2": {}})
    same = Client(before)
    assert same.current_node().created_at.seconds > time.time() - 60
    program.control(stop=["d2"])
    after = program.control(start={"d2": {"port": "new", "created_at": "2026-01-01T00:00:00Z"}},
                            discovery=["d1", "d2"])["start"]["d2"]
    moved = Client(after)
    assert after != before and moved.current_node().metadata.name == "d2"
    assert after in pathlib.Path(program.described["discovery"]).read_text()
    for connection in (second, same, moved):
        connection.close()


def test_what_a_node_says_of_itself(program, client):
    program.control(node={"d1": {"labels": {"type": "hot"}, "roles": ["DATA"], "announced": "127.0.0.1:1"}})
    node = client.current_node()
    assert (dict(node.labels), list(node.roles), node.grpc_address) == ({"type": "hot"}, [2], "127.0.0.1:1")
    program.control(node={"d1": {"labels": {}, "roles": ["META", "DATA"], "announced": None, "frame_version": 4}})
    assert client.query(request()).body[4] == 4
    program.control(node={"d1": {"frame_version": 3}})


def test_replay_by_group_and_call(program, client):
    recorded = frame3.encode(frame3.decode(client.query(request()).body))
    answers = [cluster.SendResponse(message_id=1, body=recorded), cluster.SendResponse(error="second")]
    listed = [["sw_metric", base64.b64encode(answer.SerializeToString()).decode()] for answer in answers]
    program.control(replay={"d1": listed})
    first, second, third = (client.query(request()) for _ in range(3))
    assert (first.body, first.message_id, second.error) == (recorded, 7, "second")
    assert third.error == "replay: no answer is left for group sw_metric"
    program.control(replay={"d1": listed, "reencode": True})
    assert client.query(request()).body[:5] == b"\x00VFR\x04"


def test_synthetic_answers(program, client):
    sizes = program.control(synthetic={"*": {"name": "w3", "rows": 300, "tags": 1}})["synthetic"]
    response = client.query(request())
    frame = frame3.decode(response.body)
    assert (response.message_id, len(response.body), frame.rows, len(frame.columns)) == (7, sizes["d1"], 300, 6)


def test_schema_changes_and_rows_while_running(program, client):
    found = {"metadata": {"group": "late", "name": "m"}, "entity": {"tagNames": ["id"]}, "interval": "1m",
             "tagFamilies": [{"name": "default", "tags": [{"name": "id", "type": "TAG_TYPE_STRING"}]}],
             "fields": [{"name": "v", "fieldType": "FIELD_TYPE_INT"}]}
    days = {"unit": "UNIT_DAY", "num": 1}
    group = {"metadata": {"name": "late"}, "catalog": "CATALOG_MEASURE", "resourceOpts": {
        "shardNum": 1, "replicas": 1, "segmentInterval": days, "ttl": days}}
    row = {"timestamp": "2026-05-04T10:00:00Z", "tagFamilies": [{"tags": [{"str": {"value": "a"}}]}],
           "fields": [{"int": {"value": "5"}}]}
    placed = program.control(schema=[{"action": "insert", "kind": "group", "object": group},
                                     {"action": "insert", "kind": "measure", "object": found}],
                             placement=["late"], write=[{"group": "late", "measure": "m", "rows": [row]}])["placement"]
    assert sorted(placed["late"][0]) == ["d1", "d2"]
    asked = request()
    asked.groups[0], asked.name = "late", "m"
    asked.tag_projection.tag_families[0].tags[0], asked.field_projection.names[0] = "id", "v"
    assert [column.cells for column in frame3.decode(client.query(asked).body).columns[-2:]] == [["a"], [5]]
    program.control(schema=[{"action": "delete", "kind": "group", "object": group}])
    assert "measure doesn't exist" in client.query(asked).error


def test_rows_that_only_one_copy_has(program, client):
    program.control(write=[{"group": "sw_metric", "measure": "service_cpm_minute", "nodes": ["d1"], "rows": [
        {"timestamp": "2026-05-04T09:59:30Z", "tagFamilies": [{"tags": [{"str": {"value": "only d1"}}]}],
         "fields": [{"int": {"value": "1"}}]}]}])
    asked, second = request(), Client(program.address("d2"))
    asked.limit = 10_000
    assert [b"only d1" in connection.query(asked).body for connection in (client, second)] == [True, False]
    second.close()


def test_synthetic_topn(program, client):
    program.control(synthetic={"*": {"name": "w8"}})
    body = measure.TopNRequest(groups=["g"], name="any").SerializeToString()
    response, = client.send(cluster.SendRequest(topic="v1:topN-query", body=body))
    assert len(measure.TopNResponse.FromString(response.body).lists[0].items) == 100


def test_two_processes_play_one_cluster():
    programs = [Program("--nodes", "2", "--only", name) for name in ("d1", "d2")]
    assert [[node["name"] for node in program.described["nodes"]] for program in programs] == [["d1"], ["d2"]]
    assert [program.end() for program in programs] == [0, 0]


def test_a_signal_ends_the_program(tmp_path):
    program = Program("--nodes", "1", "--discovery", str(tmp_path / "nodes.yaml"), "--label", "d1:type=warm")
    assert (tmp_path / "nodes.yaml").exists()
    connection = Client(program.address())
    assert dict(connection.current_node().labels) == {"type": "warm"}
    connection.close()
    program.process.send_signal(signal.SIGTERM)
    assert program.process.wait(10) == 0
