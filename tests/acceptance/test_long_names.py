# SPDX-License-Identifier: Apache-2.0
"""Names of megabytes, and of characters of several bytes: refusals quote their beginning, and traces can be read."""
import grpc
import pytest

from asking import ALWAYS, CPM, EQ, ask, by, query, where
from fixtures import require_binary, running
from proto import message
from traces import spans_of, tags_of

MOST = 4096     # bytes of a text that clients get
NAMES = {"long": "x" * 4_000_000, "cut within a character": "x" + "ü" * 3000, "cut elsewhere": "日" * 3000}


def topn(trace, name="service_instance_cpm_minute_topn", group="sw_metric"):
    return message("measure.v1.TopNRequest", {"groups": [group], "name": name, "timeRange": ALWAYS, "topN": 1, "agg": 1,
                                              "fieldValueSort": 1, "trace": trace})


def keyed(name):
    return {"groupBy": {"tagProjection": {"tagFamilies": [{"name": "default", "tags": [name]}]}},
            "agg": {"function": 1, "fieldName": "value"}}


WHERE = {
    "measure": lambda name: ask("sw_metric", name, ["default.id"]),
    "group": lambda name: ask(name, "service_cpm_minute", ["default.id"]),
    "rule": lambda name: ask(*CPM, orderBy=by(name)),
    "tag": lambda name: ask("sw_metric", "service_cpm_minute", [f"default.{name}"]),
    "field": lambda name: ask("sw_metric", "service_cpm_minute", (), [name]),
    "key": lambda name: ask(*CPM, **keyed(name)),
    "aggregated field": lambda name: ask(*CPM, agg={"function": 1, "fieldName": name}),
    "field of top": lambda name: ask(*CPM, top={"number": 1, "fieldName": name}),
    "stage": lambda name: ask(*CPM, stages=[name]),
    "condition": lambda name: ask(*CPM, criteria=where(name, EQ, "a")),
}


@pytest.fixture(scope="module")
def client():
    require_binary()
    with running(["--demo", "--nodes", 2]) as (_, liaison), liaison.client() as found:
        yield found


def check(code, found, request):
    if code is None:
        assert request.trace and found.trace.error
        texts = [tags_of(span).get("error_msg", "") for span in spans_of(found.trace)]
    else:
        texts = [found]
        assert not {"\u00c3", "\u00e6"} & set(found), "bytes that are not UTF-8 are read as Latin-1"
    assert max(map(len, texts)) < MOST and any(texts)


@pytest.mark.sanitize
@pytest.mark.parametrize("trace", [False, True], ids=["", "traced"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", WHERE)
def test_queries(client, place, name, trace):
    request = query({**WHERE[place](NAMES[name]), "trace": trace})
    check(*client.query_error(request), request)


@pytest.mark.sanitize
@pytest.mark.parametrize("trace", [False, True], ids=["", "traced"])
@pytest.mark.parametrize("name", NAMES)
def test_topns(client, name, trace):
    for request in (topn(trace, name=NAMES[name]), topn(trace, group=NAMES[name])):
        check(*client.topn_error(request), request)


@pytest.mark.sanitize
@pytest.mark.parametrize("trace", [False, True], ids=["", "traced"])
def test_a_topn_that_nodes_refuse(client, trace):
    request = topn(trace)
    request.conditions.add(name="service_id", op=3).value.str.value = "a"
    code, found = client.topn_error(request)
    assert (code is None) == trace and code in (None, grpc.StatusCode.UNKNOWN)
    check(code, found, request)
    text = " ".join(tags_of(span).get("error_msg", "") for span in spans_of(found.trace)) if trace else found
    assert "unsupported condition" in text
