# SPDX-License-Identifier: Apache-2.0
"""BanyanDB's protobuf messages as Python classes, built from proto/ when this module is imported.

The classes live in a descriptor pool of their own, so a test process that also loads another copy of these
packages sees no clash. protoc writes to a temporary folder that is gone again after the import.
"""
import pathlib
import subprocess
import tempfile
import threading

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PROTO = pathlib.Path(__file__).resolve().parent / "proto"


def _compile():
    with tempfile.TemporaryDirectory(prefix="datanode-proto-") as folder:
        target = pathlib.Path(folder) / "messages.desc"
        files = sorted(path.name for path in _PROTO.glob("*.proto"))
        subprocess.run(["protoc", f"-I{_PROTO}", "-I/usr/include", "--include_imports",
                        f"--descriptor_set_out={target}", *files], check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(target.read_bytes())


def _load():
    pool = descriptor_pool.DescriptorPool()
    for file in _compile().file:
        pool.Add(file)
    return pool


_pool = _load()
_factory = message_factory.MessageFactory(_pool)
_making = threading.Lock()  # a class is known before those of its fields are


class Package:
    """Attribute access to the messages of one protobuf package: `measure.QueryRequest`."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, message):
        descriptor = _pool.FindMessageTypeByName(f"{self._name}.{message}")
        with _making:
            cls = _factory.GetPrototype(descriptor)
        setattr(self, message, cls)
        return cls


cluster = Package("banyandb.cluster.v1")
common = Package("banyandb.common.v1")
database = Package("banyandb.database.v1")
health = Package("grpc.health.v1")
measure = Package("banyandb.measure.v1")
model = Package("banyandb.model.v1")
property_ = Package("banyandb.property.v1")
schema = Package("banyandb.schema.v1")


def nanoseconds(timestamp):
    """A Timestamp message as nanoseconds since the epoch."""
    return timestamp.seconds * 1_000_000_000 + timestamp.nanos


def set_nanoseconds(timestamp, nanos):
    """Writes nanoseconds since the epoch into a Timestamp message."""
    timestamp.seconds, timestamp.nanos = divmod(nanos, 1_000_000_000)
    timestamp.SetInParent()
