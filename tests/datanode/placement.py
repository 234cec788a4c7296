# SPDX-License-Identifier: Apache-2.0
"""Where a row lives: the id of its series, its shard, and the nodes that hold the copies of a shard."""
import struct

import xxhash

_DELIMITER, _ESCAPE = b"|", b"\\"
_STRING_TYPE, _INT_TYPE = b"\x01", b"\x02"


def _delimited(data):
    data = data.replace(_ESCAPE, _ESCAPE * 2).replace(_DELIMITER, _ESCAPE + _DELIMITER)
    return data + _DELIMITER


def _series_part(value):
    if isinstance(value, int):
        zigzag = (value << 1) ^ (value >> 63)
        return _INT_TYPE + _delimited(struct.pack(">Q", zigzag & (1 << 64) - 1))
    return _STRING_TYPE + _delimited(_shard_part(value))


def _shard_part(value):
    if isinstance(value, int):
        return struct.pack(">Q", value + (1 << 63))     # sorts as the number does
    if isinstance(value, bytes):
        return value
    return (value or "").encode()


def series_id(measure, entity_values):
    """The id of the series with these entity tag values, in schema order."""
    return xxhash.xxh64_intdigest(_delimited(measure.encode()) + b"".join(map(_series_part, entity_values)))


def shard_of(measure, sharding_values, shard_num):
    """The shard of a row, by its sharding key."""
    return xxhash.xxh64_intdigest(measure.encode() + b"".join(map(_shard_part, sharding_values))) % shard_num


class Placement:
    """Deals shards to nodes anew for every question, so that a group that comes or goes moves shards of others.

    That is what the real cluster does, and why rows that are written again later may lie on two nodes.
    """

    def __init__(self, catalog, node_names):
        self._catalog = catalog
        self._nodes = sorted(node_names)

    def nodes_of(self, group, shard):
        """The names of the nodes that hold a shard, one per copy, never the same node twice."""
        groups = self._catalog.groups()
        pairs = sorted((name, number) for name, found in groups.items()
                       for number in range(found.resource_opts.shard_num))
        first = pairs.index((group, shard))
        copies = groups[group].resource_opts.replicas + 1
        return [self._nodes[(first + copy) % len(self._nodes)] for copy in range(min(copies, len(self._nodes)))]
