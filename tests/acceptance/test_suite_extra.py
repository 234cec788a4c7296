# SPDX-License-Identifier: Apache-2.0
"""The cases of BanyanDB's acceptance suite that need more than a loaded cluster: rows written again, nodes that
stop, stages, TLS.

They run on one, two, three and five nodes, in both frame versions, with no, one and two replicas, plain and traced.
The case of basic auth is left out: it is not served yet.
"""
import json

import grpc
import pytest

from authority import Authority, channel_to
from client import QUERY, rfc3339
from fixtures import require_binary, running
from proto import parse
from shared import HAS_SUITE, SUITE
from suitecases import MANIFEST, check_answer, check_lists, milliseconds, request_of

CASES = {case["name"]: case for case in MANIFEST["extra_cases"]}
CLUSTERS = [(nodes, version, replicas) for nodes in (1, 2, 3, 5) for version in (4, 3) for replicas in (0, 1, 2)]
T0 = "2026-03-02T08:00:00Z"
FAST = "--data-client-health-check-interval=500ms"

pytestmark = pytest.mark.skipif(not HAS_SUITE, reason="the acceptance suite is not here (BYDB_SHARED)")


def name_of(cluster):
    return "{}-nodes-v{}-replicas-{}".format(*cluster)


def node_options(cluster, *more):
    nodes, version, replicas = cluster
    return ["--nodes", nodes, "--frame-version", version, "--replicas", replicas, *more]


def liaison_options(cluster, *more):
    return [f"--measure-frame-versions={'4' if cluster[1] == 4 else '3,4'}", FAST, *more]


def ask(client, case, **more):
    return (client.topn if case["kind"] == "topn" else client.query)(request_of(case, T0, **more))


def check_case(client, name):
    """Plain, and again with a trace."""
    case = CASES[name]
    for more in ({}, {"trace": True}):
        if case["flags"]["want_err"]:
            with pytest.raises(grpc.RpcError):
                ask(client, case, **more)
            continue
        response = ask(client, case, **more)
        (check_lists if case["kind"] == "topn" else check_answer)(case, response)
        assert len(response.trace.spans) == len(more) and not response.trace.error


# ------------------------------------------------------ rows written again

KINDS = {"groups": "group", "measures": "measure", "index_rules": "indexRule",
         "index_rule_bindings": "indexRuleBinding"}


def schemas(replicas):
    for folder, kind in KINDS.items():
        for path in sorted((SUITE / "schemas" / folder).glob("*.json")):
            document = json.loads(path.read_text())
            if kind == "group":
                document["resource_opts"]["replicas"] = replicas
            yield {"action": "insert", "kind": kind, "object": document}


def batch(write):
    rows = json.loads((SUITE / write["data_file"]).read_text())
    last = milliseconds(T0) + write["base_offset_ms"]
    for back, row in enumerate(reversed(rows)):
        row["timestamp"] = rfc3339(last - back * write["interval_ms"])
    return {"group": write["group"], "measure": write["measure"], "rows": rows}


@pytest.mark.parametrize("cluster", CLUSTERS, ids=name_of)
def test_after_an_update(cluster):
    require_binary()
    name = "service_cpm_minute after an update"

    def load(nodes):
        nodes.control(schema=list(schemas(cluster[2])))
        nodes.control(write=[batch(write) for write in CASES[name]["writes"]])
    with running(node_options(cluster, "--empty", "--t0", T0), liaison_options(cluster), before=load) as (_, liaison):
        with liaison.client() as client:
            check_case(client, name)


# -------------------------------------------------------- nodes that stop

@pytest.mark.parametrize("cluster", CLUSTERS, ids=name_of)
def test_replication(cluster):
    """As far as there are copies, a node may stop, and nothing is missing."""
    require_binary()
    options = node_options(cluster, "--suite", SUITE, "--suite-variant", "alt_replicated")
    with running(options, liaison_options(cluster)) as (nodes, liaison), liaison.client() as client:
        check_case(client, "replication: all, three data nodes up")
        if cluster[0] == 1 or cluster[2] == 0:
            return
        name = nodes.names[-1]
        nodes.control(stop=[name])
        liaison.wait_metric(lambda value: value == 0, "bydb_node_up", node=name)
        check_case(client, "replication: all, one data node stopped")
        check_case(client, "replication: entity_replicated, one data node stopped")
        _, trailers = client.query_with_trailers(request_of(CASES["replication: all, one data node stopped"], T0))
        assert "banyandb-incomplete" not in trailers
        nodes.control(start={name: {"created_at": "2026-02-01T00:00:00Z"}})
        liaison.wait_metric(lambda value: value == liaison.executors, "bydb_node_up", node=name, timeout=20)
        check_case(client, "replication: all, after the node is back")


# ------------------------------------------------------------------- stages

@pytest.mark.parametrize("cluster", [cluster for cluster in CLUSTERS if cluster[0] > 1], ids=name_of)
def test_lifecycle(cluster):
    """All rows have gone to the warm nodes; d1 is the hot one."""
    require_binary()
    warm = [f"d{number + 1}" for number in range(1, cluster[0])]
    labels = [word for name in ("d1", *warm)
              for word in ("--label", f"{name}:type={'warm' if name in warm else 'hot'}")]
    options = node_options(cluster, "--suite", SUITE, "--suite-variant", "alt_group_stages", "--rows-on",
                           ",".join(warm), *labels)
    with running(options, liaison_options(cluster, "--data-node-selector=type=hot")) as (_, liaison):
        with liaison.client() as client:
            for name in CASES:
                if name.startswith("lifecycle: "):
                    check_case(client, name)


# ---------------------------------------------------------------------- TLS

def test_tls(tmp_path):
    require_binary()
    authority = Authority(tmp_path, "first")
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"
    authority.install(certificate, key)
    options = ["--tls", f"--cert-file={certificate}", f"--key-file={key}"]
    with running(["--suite", SUITE], options) as (_, liaison), channel_to(liaison.address, authority) as channel:
        case = CASES["TLS: all"]
        answer = channel.unary_unary(QUERY)(request_of(case, T0).SerializeToString(), timeout=20)
        check_answer(case, parse("measure.v1.QueryResponse", answer))
