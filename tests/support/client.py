# SPDX-License-Identifier: Apache-2.0
"""A client of the liaison: grpcio with plain bytes, without generated stubs."""
import grpc

from proto import message, parse

QUERY = "/banyandb.measure.v1.MeasureService/Query"
TOPN = "/banyandb.measure.v1.MeasureService/TopN"
HEALTH = "/grpc.health.v1.Health/Check"
NO_LIMIT = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Client:
    """One connection. `call` gives bytes back; errors are grpc.RpcError with code() and details()."""

    def __init__(self, address):
        self.address = address
        # Without the option grpcio shares one connection among all channels to an address.
        self.channel = grpc.insecure_channel(address, NO_LIMIT + [("grpc.use_local_subchannel_pool", 1)])

    def method(self, path):
        return self.channel.unary_unary(path)

    def call(self, path, data, timeout=30):
        return self.method(path)(data, timeout=timeout)

    def query_bytes(self, request, timeout=30):
        return self.call(QUERY, request.SerializeToString(), timeout)

    def query(self, request, timeout=30):
        return parse("measure.v1.QueryResponse", self.query_bytes(request, timeout))

    def query_with_trailers(self, request, timeout=30):
        """(response, trailing metadata as a dict)."""
        data, call = self.method(QUERY).with_call(request.SerializeToString(), timeout=timeout)
        return parse("measure.v1.QueryResponse", data), dict(call.trailing_metadata())

    def query_error(self, request, timeout=30):
        """(code, text) of a query that must fail; (None, response) when it does not."""
        data = request if isinstance(request, bytes) else request.SerializeToString()
        try:
            answer = self.call(QUERY, data, timeout)
        except grpc.RpcError as why:
            return why.code(), why.details()
        return None, parse("measure.v1.QueryResponse", answer)

    def topn(self, request, timeout=30):
        return parse("measure.v1.TopNResponse", self.call(TOPN, request.SerializeToString(), timeout))

    def topn_with_trailers(self, request, timeout=30):
        data, call = self.method(TOPN).with_call(request.SerializeToString(), timeout=timeout)
        return parse("measure.v1.TopNResponse", data), dict(call.trailing_metadata())

    def topn_error(self, request, timeout=30):
        """(code, text) of a request that must fail; (None, response) when it does not."""
        data = request if isinstance(request, bytes) else request.SerializeToString()
        try:
            answer = self.call(TOPN, data, timeout)
        except grpc.RpcError as why:
            return why.code(), why.details()
        return None, parse("measure.v1.TopNResponse", answer)

    def health(self, service="", timeout=5):
        request = message("grpc.health.v1.HealthCheckRequest", {"service": service})
        answer = parse("grpc.health.v1.HealthCheckResponse",
                       self.call(HEALTH, request.SerializeToString(), timeout))
        return as_status(answer)

    def close(self):
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def as_status(answer):
    return answer.DESCRIPTOR.fields_by_name["status"].enum_type.values_by_number[answer.status].name


def time_range(begin_ms, end_ms):
    """JSON form of a TimeRange, for documents of requests."""
    return {"begin": rfc3339(begin_ms), "end": rfc3339(end_ms)}


def rfc3339(milliseconds):
    timestamp = message("google.protobuf.Timestamp")
    timestamp.FromMilliseconds(milliseconds)
    return timestamp.ToJsonString()
