# SPDX-License-Identifier: Apache-2.0
"""Links and calls against grpcio's server."""
import socket
import time
from concurrent import futures

import grpc
import pytest
from process import wait_until
from programs import OPTIONS

pytestmark = pytest.mark.sanitize


class Handler(grpc.GenericRpcHandler):
    def __init__(self):
        self.cancelled = []
        self.metadata = []

    def service(self, details):
        name = details.method.rsplit("/", 1)[1]
        self.metadata.append(dict(details.invocation_metadata))
        if hasattr(self, "stream_" + name):
            return grpc.stream_stream_rpc_method_handler(getattr(self, "stream_" + name), None, None)
        if hasattr(self, "unary_" + name):
            return grpc.unary_unary_rpc_method_handler(getattr(self, "unary_" + name), None, None)
        return None

    def unary_Echo(self, request, context):
        return request

    def unary_Big(self, request, context):
        return b"b" * int(request)

    def unary_Slow(self, request, context):
        context.add_callback(lambda: self.cancelled.append(time.monotonic()))
        time.sleep(float(request))
        return b"slept"

    def unary_Fail(self, request, context):
        context.set_trailing_metadata((("x-reason", "because"),))
        context.abort(grpc.StatusCode.ABORTED, "100 % caf\u00e9\nnext line")

    def stream_Bidi(self, requests, context):
        context.add_callback(lambda: self.cancelled.append(time.monotonic()))
        yield from requests


@pytest.fixture
def peer():
    handler = Handler()
    server = grpc.server(futures.ThreadPoolExecutor(16), options=OPTIONS)
    server.add_generic_rpc_handlers((handler,))
    handler.port = server.add_insecure_port("127.0.0.1:0")
    handler.address = f"127.0.0.1:{handler.port}"
    handler.server = server
    server.start()
    yield handler
    server.stop(0)


def test_unary(peer, links):
    client = links()
    link = client.link(peer.address)
    call = client.call(link, "/x/Echo", "hello")
    client.expect(f"message {call} 5 .* hello")
    assert client.end(call) == ("OK", "")
    client.expect(f"state {link} READY")
    client.tell("close", link)
    client.wait_idle()


def test_localhost_needs_no_resolver(peer, links):
    client = links()
    call = client.call(client.link(f"localhost:{peer.port}"), "/x/Echo", "hello")
    assert client.end(call) == ("OK", "")


@pytest.mark.parametrize("size", [0, 1, 16379, 16380, 65535, 1000000, 67108864])
def test_sizes_both_ways(peer, links, size):
    client = links()
    link = client.link(peer.address)
    call = client.call(link, "/x/Echo", size)
    client.expect(f"message {call} {size} ", 20)
    assert client.end(call) == ("OK", "")


def test_errors(peer, links):
    client = links()
    link = client.link(peer.address)
    failed = client.call(link, "/x/Fail", "x")
    unknown = client.call(link, "/x/Nothing", "x")
    client.expect(rf"end {failed} ABORTED \[because\] 100 % caf\u00e9")
    assert client.end(unknown)[0] == "UNIMPLEMENTED"


def test_bidi_and_cancel(peer, links):
    client = links()
    link = client.link(peer.address)
    call = client.call(link, "/x/Bidi", "a", "bb", half=False)
    client.expect(f"message {call} 2 .* bb")
    client.tell("cancel", call)
    client.wait_idle((1, 0))
    wait_until(lambda: peer.cancelled, what="the call ending at the peer")
    assert not any(line.startswith(f"end {call}") for line in client.lines)


def test_deadline_is_sent_and_kept(peer, links):
    client = links()
    link = client.link(peer.address)
    call = client.call(link, "/x/Slow", "7", deadline_ms=4000)
    assert client.end(call)[0] == "DEADLINE_EXCEEDED"
    wait_until(lambda: peer.cancelled, what="the call ending at the peer")


def test_metadata(peer, links):
    client = links()
    link = client.link(peer.address)
    client.end(client.call(link, "/x/Echo", "x", metadata=("x-key", "value")))
    assert peer.metadata[0]["x-key"] == "value"
    assert peer.metadata[0]["user-agent"] == "bydb-liaison"


def test_many_calls(peer, links):
    """More than grpcio's server takes at once: nghttp2 queues them."""
    client = links()
    link = client.link(peer.address)
    for _ in range(200):
        client.call(link, "/x/Echo", "x")
    client.wait_idle((1, 0))
    assert sum(" OK " in line for line in client.lines if line.startswith("end")) == 200


def test_graceful_stop_of_the_peer(peer, links):
    client = links()
    link = client.link(peer.address)
    call = client.call(link, "/x/Slow", "1")
    client.expect(f"state {link} READY")
    wait_until(lambda: peer.metadata, what="the call being there")
    stopped = peer.server.stop(5)
    client.expect(f"state {link} DRAINING the peer said GOAWAY")
    late = client.call(link, "/x/Echo", "x")
    code, text = client.end(late)
    assert code == "UNAVAILABLE" and "retry is safe" in text
    assert client.end(call) == ("OK", "")
    client.expect(f"state {link} CLOSED")
    stopped.wait(5)


def test_peer_dies(peer, links):
    client = links()
    link = client.link(peer.address)
    call = client.call(link, "/x/Slow", "3")
    client.expect(f"state {link} READY")
    wait_until(lambda: peer.metadata, what="the call being there")
    peer.server.stop(0)
    assert client.end(call)[0] in ("UNAVAILABLE", "CANCELLED")
    client.expect(f"state {link} CLOSED")


def test_nobody_there(links):
    client = links()
    for address, reason in [("127.0.0.1:1", "Connection refused"), ("[::1]:1", "connect to ::1:1"),
                            ("localhost:1", "Connection refused"), ("nonsense", "no address"),
                            ("host:port", "no address"), (":1", "no address"), ("1.2.3.4:", "no address")]:
        link = client.link(address)
        call = client.call(link, "/x/Echo", "x")
        assert reason in client.expect(f"state {link} CLOSED (.*)")[1]
        assert reason in client.end(call)[1]


def test_names(peer, links):
    """The host's own name stands in /etc/hosts or is known to the resolver."""
    name = socket.gethostname()
    try:
        reachable = socket.gethostbyname(name) == "127.0.0.1"
    except OSError:
        reachable = False
    client = links()
    link = client.link(f"{name}:{peer.port}")
    call = client.call(link, "/x/Echo", "hello")
    code, text = client.end(call)
    assert code == "OK" if reachable else code in ("OK", "UNAVAILABLE")
    missing = client.link("no.such.name.invalid:1")
    assert "cannot resolve" in client.expect(f"state {missing} CLOSED (.*)", 15)[1]


def test_close_while_resolving(links):
    client = links()
    for number in range(20):
        link = client.link(f"name{number}.invalid:1")
        client.call(link, "/x/Echo", "hello")
        client.tell("close", link)
    client.wait_idle()


def test_connect_times_out(links):
    """192.0.2.0/24 is for documentation: nobody answers, or the network says so."""
    client = links()
    link = client.link("192.0.2.1:9")
    call = client.call(link, "/x/Echo", "x", deadline_ms=20_000)
    client.expect(f"state {link} CLOSED")
    assert client.end(call)[0] == "UNAVAILABLE"


def test_deadline_while_connecting(links):
    client = links()
    link = client.link("192.0.2.1:9")
    call = client.call(link, "/x/Echo", "x", deadline_ms=200)
    assert client.end(call)[0] in ("DEADLINE_EXCEEDED", "UNAVAILABLE")


def test_close_with_calls_open(peer, links):
    client = links()
    link = client.link(peer.address)
    call = client.call(link, "/x/Bidi", "a", half=False)
    client.expect(f"message {call} 1 ")
    client.tell("close", link)
    code, text = client.end(call)
    assert code == "UNAVAILABLE" and "closed here" in text
    client.wait_idle()
