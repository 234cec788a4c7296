# SPDX-License-Identifier: Apache-2.0
"""Recorded exchanges of a real cluster: what a client asked, what each node was asked and answered, and what
the Go liaison made of it. ../shared/recorded/README.md describes the files."""
import base64
import dataclasses
import functools
import json
import pathlib
import re

import datanode
from catalog import Catalog, of_suite
from proto import parse
from shared import HAS_RECORDED, RECORDED, SUITE


@dataclasses.dataclass(frozen=True)
class Session:
    """One cluster that was recorded: its folders, and how many nodes it had."""
    catalog: str
    nodes: int

    @property
    def names(self):
        return [f"d{number + 1}" for number in range(self.nodes)]


class Case:
    """One query."""
    REQUEST, RESPONSE = "measure.v1.QueryRequest", "measure.v1.QueryResponse"
    NODE_REQUEST = "measure.v1.InternalQueryRequest"

    def __init__(self, folder, session):
        self.folder, self.session = folder, session
        self.name = str(folder.relative_to(RECORDED))
        self.index = json.loads((folder / "index.json").read_text())
        self.request = parse(self.REQUEST, (folder / "request.pb").read_bytes())

    @property
    def error(self):
        """(code, text) when the client got an error, else None."""
        found = self.index.get("error")
        return found and (found["code"].rsplit(".", 1)[-1], found["message"])

    @property
    def node_errors(self):
        """What nodes answered instead of rows, each of them."""
        return [node["error"] for node in self.index.get("nodes") or () if node.get("error")]

    @functools.cached_property
    def response(self):
        return parse(self.RESPONSE, (self.folder / "response.pb").read_bytes())

    def _file(self, kind, node, call):
        dotted = "" if call == 0 else f".{call + 1}"
        return {"request": self.folder / f"internal-{node}{dotted}.pb",
                "reply": self.folder / f"reply-{node}{dotted}.bin",
                "body": self.folder / f"reply-{node}{dotted}.body.bin"}[kind]

    def node_requests(self):
        """{node: its requests in order}."""
        found = {}
        for node in self.session.names:
            for call in range(len(self.request.groups)):
                path = self._file("request", node, call)
                if path.exists():
                    found.setdefault(node, []).append(parse(self.NODE_REQUEST, path.read_bytes()))
        return found

    def replies(self):
        """{node: [(group, SendResponse bytes)]}, in the order of the calls."""
        found = {node: [] for node in self.session.names}
        for node in found:
            for call, group in enumerate(self.request.groups):
                reply, body = self._file("reply", node, call), self._file("body", node, call)
                if reply.exists():
                    found[node].append((group, reply.read_bytes()))
                elif body.exists():
                    answer = parse("cluster.v1.SendResponse", b"")
                    answer.body = body.read_bytes()
                    found[node].append((group, answer.SerializeToString()))
        return found

    def replay_command(self, reencode):
        """The sample nodes' control command that makes them give these answers."""
        replies = {node: [[group, base64.b64encode(data).decode()] for group, data in answers]
                   for node, answers in self.replies().items()}
        return {**replies, "reencode": reencode}

    def frames(self):
        """For each entry of the request's groups: (node, Frame) of the nodes that sent one."""
        found = []
        for call in range(len(self.request.groups)):
            here = []
            for node in self.session.names:
                path = self._file("body", node, call)
                body = path.read_bytes() if path.exists() else b""
                if body and body[0] != 0:
                    body = parse("measure.v1.InternalQueryResponse", body).raw_frame_body
                if body:
                    here.append((node, datanode.frame3.decode(body)))
            found.append(here)
        return found


# ------------------------------------------------------------------ catalogs

def _inverted(group, number, tag):
    return {"metadata": {"group": group, "name": tag, "id": number}, "tags": [tag], "type": "TYPE_INVERTED"}


def _binding(group, measure, rules):
    return {"metadata": {"group": group, "name": f"{measure}-rules"}, "rules": rules,
            "subject": {"catalog": "CATALOG_MEASURE", "name": measure}}


def documents(name):
    """(kind, proto JSON) of every schema object of a recorded cluster, groups first."""
    if name == "types":
        found = json.loads((RECORDED / "extra/types/schema-and-writes.json").read_text())
        return ([("group", found["group"]), ("measure", found["measure"])]
                + [("indexRule", _inverted("types", 1, "rank")), ("indexRule", _inverted("types", 2, "label"))]
                + [("indexRuleBinding", _binding("types", "mixed", ["rank", "label"]))])
    if name == "big":
        measures = json.loads((RECORDED / "extra/large-and-multi-group/schema.json").read_text())["measures"]
        group = {"catalog": "CATALOG_MEASURE", "resourceOpts": {
            "shardNum": 2, "segmentInterval": {"unit": "UNIT_DAY", "num": 1}, "ttl": {"unit": "UNIT_DAY", "num": 7}}}
        return ([("group", {"metadata": {"name": owner}, **group}) for owner in measures]
                + [("measure", measure) for measure in measures.values()]
                + [("indexRule", _inverted(owner, 1, "rank")) for owner in measures]
                + [("indexRuleBinding", _binding(owner, "m", ["rank"])) for owner in measures])
    return [(kind, json.loads(text)) for kind, text in _suite_documents()]


def _suite_documents():
    order = json.loads((SUITE / "manifest.json").read_text())["schema_load_order"]
    kinds = {"groups": "group", "measures": "measure", "index_rules": "indexRule",
             "index_rule_bindings": "indexRuleBinding", "topn_aggregations": "topNAggregation"}
    for folder in order:
        for path in sorted((SUITE / "schemas" / folder).glob("*.json")):
            yield kinds[folder], path.read_text()


@functools.lru_cache(maxsize=None)
def catalog_of(name):
    if name == "suite":
        return of_suite(SUITE)
    catalog = Catalog()
    for kind, document in documents(name):
        catalog.add(kind, document)
    return catalog


# --------------------------------------------------------------------- cases

FOLDERS = {"cases": ("suite", 2), "extra/errors": ("suite", 2), "extra/trace": ("suite", 2), "extra/types": ("types", 2),
           "extra/large-and-multi-group": ("big", 2), "extra/replicated-3-nodes": ("suite", 3),
           "extra/replicas-1-on-3-nodes": ("suite", 3)}

LEFT_OUT = {"extra/schema-changes": "the catalog depends on the moment of the query"}


def killed(name):
    """How many nodes the folder's name says were gone."""
    return 2 if name.startswith("d2-and-d3-killed") else 1 if re.match(r"d\d-killed", name) else 0


def _cases(kind, case_class):
    """All recorded cases of a kind, in the order of their sessions."""
    found = []
    for folder, (catalog, nodes) in FOLDERS.items() if HAS_RECORDED else ():
        for path in sorted(pathlib.Path(RECORDED, folder).glob("*/request.pb")):
            index = json.loads((path.parent / "index.json").read_text())
            if index.get("kind") == kind:
                found.append(case_class(path.parent, Session(catalog, nodes - killed(path.parent.name))))
    return sorted(found, key=lambda case: (case.session.catalog, case.session.nodes, case.name))


@functools.lru_cache(maxsize=None)
def measures():
    return _cases("measure", Case)


class TopNCase(Case):
    """A TopN query. The Go liaison asked for all groups in one request, of which the first group's answer is
    what was recorded; later groups have nothing more to say."""
    REQUEST, RESPONSE, NODE_REQUEST = "measure.v1.TopNRequest", "measure.v1.TopNResponse", "measure.v1.TopNRequest"

    def replies(self):
        nothing = parse("cluster.v1.SendResponse", b"")
        nothing.body = b"\x0a\x00"    # one list without items
        more = [(group, nothing.SerializeToString()) for group in self.request.groups[1:]]
        return {node: found + more if found else found for node, found in super().replies().items()}


@functools.lru_cache(maxsize=None)
def topns():
    return _cases("topn", TopNCase)
