# SPDX-License-Identifier: Apache-2.0
"""BanyanDB's messages as Python classes, compiled by protoc when they are first asked for.

Tests read and write with the sample nodes' copy of the contract (tests/datanode/proto, and client*.proto
here for what no node sees), so that what the program sends is checked against another reading than its
own. They live in a descriptor pool of their own; google's timestamp.proto is google's.
"""
import functools
import pathlib
import subprocess
import tempfile
import threading

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTRACT = (ROOT / "tests" / "datanode" / "proto", ROOT / "tests" / "support")
GOOGLE = ("/usr/include", "/usr/local/include")


def descriptor_set(*folders):
    """All .proto files of some folders with what they import, as a FileDescriptorSet."""
    names = sorted(path.name for folder in folders for path in pathlib.Path(folder).glob("*.proto"))
    includes = [f"-I{path}" for path in (*folders, *GOOGLE) if pathlib.Path(path).is_dir()]
    with tempfile.NamedTemporaryFile(suffix=".desc") as target:
        subprocess.run(["protoc", *includes, "--include_imports",
                        f"--descriptor_set_out={target.name}", *names], check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(target.read())


class Messages:
    """The message classes of a contract: messages["banyandb.measure.v1.QueryRequest"]()."""

    def __init__(self, *folders):
        self._pool = descriptor_pool.DescriptorPool()
        for file in descriptor_set(*folders).file:
            self._pool.Add(file)
        self._factory = message_factory.MessageFactory(self._pool)
        self._classes = {}
        self._making = threading.Lock()  # a class is known before those of its fields are

    def __getitem__(self, name):
        if name not in self._classes:
            descriptor = self._pool.FindMessageTypeByName(name)
            with self._making:
                self._classes[name] = self._factory.GetPrototype(descriptor)
        return self._classes[name]


@functools.lru_cache(maxsize=None)
def contract():
    return Messages(*CONTRACT)


def message(name, document=None):
    """A message by its name without "banyandb.", filled from JSON-like Python values."""
    made = contract()[name if name.startswith(("google.", "grpc.")) else f"banyandb.{name}"]()
    return made if document is None else json_format.ParseDict(document, made)


def parse(name, data):
    made = message(name)
    made.ParseFromString(data)
    return made


def as_dict(made):
    return json_format.MessageToDict(made, preserving_proto_field_name=True)


def nanoseconds(timestamp):
    return timestamp.seconds * 1_000_000_000 + timestamp.nanos


def set_nanoseconds(timestamp, value):
    timestamp.seconds, timestamp.nanos = divmod(value, 1_000_000_000)
