# SPDX-License-Identifier: Apache-2.0
"""N data nodes with one catalog: loading schemas, writing rows to the nodes that hold them, discovery."""
import itertools

import yaml

import messages
import schema
from messages import property_
from node import Node
from placement import Placement
from registry import tag_of, to_property
from rows import make_row
from schema import CATALOG_MEASURE, KIND_MESSAGES, Catalog

DELETION_GROUP = {"metadata": {"name": "_deletion_task"}, "catalog": "CATALOG_PROPERTY",
                  "resourceOpts": {"shardNum": 1}}
"""Every real cluster has this group; it takes part in the dealing of shards."""


def _top_n_result(group):
    """The measure that every measure group gets for the results of its topN rules."""
    tags = [("name", "STRING"), ("direction", "INT"), ("group", "STRING"), ("parameters", "STRING")]
    return {"metadata": {"group": group, "name": "_top_n_result"},
            "tagFamilies": [{"name": "_topN", "tags": [{"name": name, "type": f"TAG_TYPE_{kind}"}
                                                       for name, kind in tags]}],
            "fields": [{"name": "value", "fieldType": "FIELD_TYPE_DATA_BINARY",
                        "encodingMethod": "ENCODING_METHOD_GORILLA", "compressionMethod": "COMPRESSION_METHOD_ZSTD"}],
            "entity": {"tagNames": [name for name, _ in tags]}}


class Cluster:
    """`now` is the time that counts as present (ns): rows past their TTL are not stored.

    `created_at` is when nodes and schema objects were created; `replicas` replaces the figure of every measure group.
    """

    def __init__(self, nodes, now, created_at, frame_versions=(4,), constants=True, replicas=None, seed=0):
        self.catalog, self.now, self.replicas, self.created_at = Catalog(), now, replicas, created_at
        names = [f"d{number + 1}" for number in range(nodes)]
        self.nodes = {name: Node(name, self.catalog, created_at, frame_versions[number % len(frame_versions)],
                                 constants, seed + number, self._schema_changed) for number, name in enumerate(names)}
        self.placement = Placement(self.catalog, names)
        self.pinned = None      # names of the nodes that get all rows, instead of those that placement tells
        self._revisions = itertools.count(created_at)
        self._versions = itertools.count(now)
        self.load("group", DELETION_GROUP)

    def load(self, kind, document):
        """Creates a schema object on all nodes from proto JSON, as a registry would."""
        found = schema.parse(kind, document)
        is_measure_group = kind == "group" and found.catalog == CATALOG_MEASURE
        if is_measure_group and self.replicas is not None:
            found.resource_opts.replicas = self.replicas
        schema.stamp(found, next(self._revisions), self.created_at)
        for node in self.nodes.values():
            node.registry.insert(to_property(kind, found))
        if is_measure_group:
            self.load("measure", _top_n_result(found.metadata.name))

    def change(self, action, kind, document, revision, nodes=None, created_at=None):
        """Inserts, updates, repairs or deletes an object, on all nodes or some; their watchers are told."""
        found = schema.parse(kind, document)
        known = self.catalog.get(kind, found.metadata.group, found.metadata.name)
        created = created_at or (messages.nanoseconds(known.created_at) if known else revision)
        stored = to_property(kind, schema.stamp(found, revision, created))
        for name in nodes or self.nodes:
            registry = self.nodes[name].registry
            if action == "delete":
                registry.delete(kind, stored.id, revision)
            else:
                apply = {"insert": registry.insert, "update": registry.update, "repair": registry.repair}[action]
                apply(property_.Property.FromString(stored.SerializeToString()))

    def _schema_changed(self, stored, deleted):
        """Keeps the catalog in step with whatever a registry accepts, the newest revision first."""
        kind = stored.metadata.name
        if kind not in KIND_MESSAGES:
            return
        group, name = tag_of(stored, "group"), tag_of(stored, "name")
        if deleted:
            self.catalog.remove(kind, group, name)
            return
        found = schema.parse(kind, tag_of(stored, "source"))
        known = self.catalog.get(kind, group, name)
        if known is None or known.metadata.mod_revision < stored.metadata.mod_revision:
            found.metadata.mod_revision = stored.metadata.mod_revision
            self.catalog.put(kind, found)

    def write(self, group, measure, points, nodes=None):
        """Writes points as one batch: each row to the nodes that hold a copy of its shard at this moment, or all
        rows to the named nodes."""
        view = self.catalog.measure(group, measure)
        nodes = nodes or self.pinned
        batches = {name: [] for name in self.nodes}
        for point in points:
            point.version = point.version or next(self._versions)
            row = make_row(view, point)
            if row.segment + view.segment_interval + view.ttl <= self.now:
                continue
            for name in nodes or self.placement.nodes_of(group, row.series.shard):
                batches[name].append(make_row(view, point))
        for name, batch in batches.items():
            if batch:
                self.nodes[name].store.write(view, batch)

    def start(self, names=None):
        for name in names or self.nodes:
            self.nodes[name].start()

    def stop(self):
        for node in self.nodes.values():
            node.stop()

    def discovery(self, names=None):
        """The YAML of file discovery that lists the named nodes, or all that were ever started."""
        listed = [{"name": name, "grpc_address": node.address} for name, node in self.nodes.items()
                  if (name in names if names is not None else node.port)]
        return yaml.safe_dump({"nodes": listed}, sort_keys=False)
