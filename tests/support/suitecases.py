# SPDX-License-Identifier: Apache-2.0
"""Cases of BanyanDB's own acceptance suite: what is asked, and whether an answer is what is wanted.

Answers are compared as messages, but for times, versions and series ids.
"""
import datetime
import json

import yaml

from client import rfc3339
from compare import encoded, same_list, same_set, without
from proto import message
from shared import HAS_SUITE, SUITE

IGNORED = ("timestamp", "version", "sid")
MANIFEST = json.loads((SUITE / "manifest.json").read_text()) if HAS_SUITE else {"cases": [], "extra_cases": []}


def document_of(case):
    return yaml.safe_load((SUITE / case["input"]).read_text())


def milliseconds(t0):
    return int(datetime.datetime.fromisoformat(t0.replace("Z", "+00:00")).timestamp() * 1000)


def request_of(case, t0, **more):
    """Around the moment that the suite calls now, ISO 8601."""
    begin = milliseconds(t0) + case["offset_ms"]
    name = "measure.v1.TopNRequest" if case["kind"] == "topn" else "measure.v1.QueryRequest"
    return message(name, {**document_of(case), **more, "stages": case["flags"]["stages"],
                          "timeRange": {"begin": rfc3339(begin), "end": rfc3339(begin + case["duration_ms"])}})


def wanted_points(case):
    document = yaml.safe_load((SUITE / case["want"]).read_text()) or {}
    points = document.get("dataPoints", document.get("data_points", []))
    return [without(message("measure.v1.DataPoint", point), *IGNORED) for point in points]


def check_envelope(response):
    assert not response.group_statuses
    for point in response.data_points:
        if point.HasField("timestamp"):
            assert point.version > 0 and point.sid > 0


def check_answer(case, response):
    flags = case["flags"]
    check_envelope(response)
    got = [without(point, *IGNORED) for point in response.data_points]
    if flags["want_empty"]:
        assert not got
    else:
        (same_set if flags["dis_order"] else same_list)(got, wanted_points(case))


def check_lists(case, response):
    """Which items come is compared; that the best ones come first is not, in the suite, but here."""
    if case["flags"]["want_empty"]:
        assert not response.lists
        return
    document = yaml.safe_load((SUITE / case["want"]).read_text())
    wanted = [message("measure.v1.TopNList.Item", item) for found in document["lists"] for item in found["items"]]
    (found,) = response.lists
    assert found.timestamp.seconds > 0
    assert sorted(map(encoded, found.items)) == sorted(map(encoded, wanted)), f"{found.items} for {wanted}"
    values = [item.value.int.value + item.value.float.value for item in found.items]
    assert values == sorted(values, reverse=document_of(case)["fieldValueSort"] == 1)
