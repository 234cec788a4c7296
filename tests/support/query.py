#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a liaison for rows of a measure and prints them as a table.

    query.py 127.0.0.1:17912 --group sw_metric --measure service_cpm_minute \\
             --tags default.id,default.entity_id --fields total,value --last 1h --order id --desc
    query.py 127.0.0.1:17912 --group sw_metric --measure service_cpm_minute --by id --agg sum:value --top 3:value
    query.py 127.0.0.1:17912 --request request.json       a whole QueryRequest as JSON, "-" = stdin
"""
import argparse
import json
import pathlib
import re
import sys
import time

import grpc
from google.protobuf import json_format

from client import Client, rfc3339
from proto import as_dict, message

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
VALUES = {"str": lambda v: v.value, "int": lambda v: str(v.value), "float": lambda v: repr(v.value),
          "str_array": lambda v: json.dumps(list(v.value)), "int_array": lambda v: json.dumps(list(v.value)),
          "binary_data": lambda v: "0x" + v.hex(), "timestamp": lambda v: v.ToJsonString(),
          "null": lambda v: "–"}


def cell_text(value):
    kind = value.WhichOneof("value")
    return VALUES[kind](getattr(value, kind)) if kind else "–"


def table(response):
    """Rows of texts, the first one the headings."""
    heads, rows = [], []
    for point in response.data_points:
        row = {"time": point.timestamp.ToJsonString()} if point.HasField("timestamp") else {}
        for family in point.tag_families:
            for tag in family.tags:
                row[f"{family.name}.{tag.key}"] = cell_text(tag.value)
        for field in point.fields:
            row[field.name] = cell_text(field.value)
        heads += [name for name in row if name not in heads]
        rows.append(row)
    return [heads] + [[row.get(name, "") for name in heads] for row in rows]


def print_table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if number == 0:
            print("  ".join("─" * width for width in widths))


def seconds(text):
    found = re.fullmatch(r"(\d+)([smhd])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r}: a number and one of s m h d, such as 30m")
    return int(found[1]) * UNITS[found[2]]


def families(tags):
    """default.id,default.name,extra.x → the families of a TagProjection."""
    found = {}
    for tag in tags:
        family, _, name = tag.rpartition(".")
        found.setdefault(family or "default", []).append(name)
    return [{"name": family, "tags": names} for family, names in found.items()]


def built(options):
    now = int(time.time() * 1000)
    document = {"groups": options.group, "name": options.measure,
                "timeRange": {"begin": rfc3339(now - options.last * 1000),
                              "end": rfc3339(now + options.ahead * 1000)},
                "offset": options.offset, "limit": options.limit}
    if options.tags:
        document["tagProjection"] = {"tagFamilies": families(options.tags.split(","))}
    if options.fields:
        document["fieldProjection"] = {"names": options.fields.split(",")}
    if options.order or options.desc:
        document["orderBy"] = {"indexRuleName": options.order or "",
                               "sort": "SORT_DESC" if options.desc else "SORT_ASC"}
    document.update(grouped(options))
    return message("measure.v1.QueryRequest", document)


def grouped(options):
    found = {}
    if options.by:
        found["groupBy"] = {"tagProjection": {"tagFamilies": families(options.by.split(","))}}
    if options.agg:
        function, field = options.agg.split(":")
        found["agg"] = {"function": f"AGGREGATION_FUNCTION_{function.upper()}", "fieldName": field}
    if options.top:
        number, field = options.top.split(":")
        found["top"] = {"number": int(number), "fieldName": field, "fieldValueSort": "SORT_DESC"}
    return found


def read(path):
    text = sys.stdin.read() if path == "-" else pathlib.Path(path).read_text()
    return json_format.Parse(text, message("measure.v1.QueryRequest"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="host:port of the liaison")
    parser.add_argument("--request", metavar="FILE", help="a QueryRequest as JSON; - for stdin")
    parser.add_argument("--group", action="append", help="may be given several times")
    parser.add_argument("--measure")
    parser.add_argument("--tags", help="family.tag,…; without a family: default")
    parser.add_argument("--fields", help="field,…")
    parser.add_argument("--by", metavar="TAGS", help="a group for each value of these tags")
    parser.add_argument("--agg", metavar="FUNCTION:FIELD", help="sum, count, min, max or mean of a field")
    parser.add_argument("--top", metavar="N:FIELD", help="the N greatest by a field")
    parser.add_argument("--last", type=seconds, default="1h", help="30m, 2h, 1d … until now")
    parser.add_argument("--ahead", type=seconds, default="0s", help="and so much into the future")
    parser.add_argument("--order", metavar="RULE", help="an index rule; without it by time")
    parser.add_argument("--desc", action="store_true")
    parser.add_argument("--offset", type=int, default=0)
    parser.add_argument("--limit", type=int, default=0, help="0 = the liaison's default of 100")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--timeout", type=seconds, default="30s")
    options = parser.parse_args()
    if not options.request and not (options.group and options.measure):
        parser.error("--request, or --group and --measure")
    return options


def main():
    options = arguments()
    request = read(options.request) if options.request else built(options)
    began = time.monotonic()
    try:
        with Client(options.address) as client:
            response, trailers = client.query_with_trailers(request, options.timeout)
    except grpc.RpcError as why:
        print(f"{why.code().name}: {why.details()}", file=sys.stderr)
        return 1
    took = (time.monotonic() - began) * 1000
    if options.json:
        print(json.dumps(as_dict(response), indent=2, ensure_ascii=False))
        return 0
    if response.data_points:
        print_table(table(response))
    print(f"{len(response.data_points)} rows, {took:.1f} ms")
    for group, status in response.group_statuses.items():
        print(f"group {group}: status {status}")
    if "banyandb-incomplete" in trailers:
        print(f"incomplete, without: {trailers['banyandb-incomplete']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
