# SPDX-License-Identifier: Apache-2.0
"""The server as grpcio sees it."""
import time

import grpc
import pytest

pytestmark = pytest.mark.sanitize


def refused(function, *args, **more):
    with pytest.raises(grpc.RpcError) as caught:
        function(*args, **more)
    return caught.value


def test_unary(echo):
    server = echo()
    for size in (0, 1, 5, 1000, 16379, 16384, 65535, 1 << 20, (16 << 20)):
        assert server.call("Unary", b"u" * size) == b"u" * size


def test_many_at_once(echo):
    server = echo()
    channel = server.channel()
    method = channel.unary_unary("/test.Echo/Unary", None, None)
    futures = [method.future(b"%d" % n * 100) for n in range(3000)]
    assert all(future.result() == b"%d" % n * 100 for n, future in enumerate(futures))


def test_big_answer(echo):
    server = echo()
    answer = server.call("Big", b"67108864")
    assert len(answer) == 67108864
    assert answer[::65536] == bytes(ord("a") + n % 26 for n in range(1024))


def test_answers_of_a_server_stream_in_order(echo):
    server = echo()
    stream = server.channel().unary_stream("/test.Echo/Stream", None, None)
    assert [len(part) for part in stream(b"200 100000")] == [100000] * 200
    assert list(stream(b"0 1")) == []


def test_bidi_and_client_stream(echo):
    server = echo()
    channel = server.channel()
    bidi = channel.stream_stream("/test.Echo/Bidi", None, None)
    parts = [b"", b"a", b"b" * 100000, b"", b"c" * 17]
    assert list(bidi(iter(parts))) == parts
    collect = channel.stream_unary("/test.Echo/Collect", None, None)
    assert collect(iter([b"x" * 100000] * 500)) == b"500 50000000"
    assert collect(iter([])) == b"0 0"


def test_errors_and_texts(echo):
    server = echo()
    error = refused(server.call, "Refuse", b"")
    assert error.code() == grpc.StatusCode.PERMISSION_DENIED
    assert error.details() == 'not "you": 100 % sure\n\u00e9'
    assert error.trailing_metadata() == (("x-reason", "because"),)
    for number in range(1, 17):
        assert refused(server.call, "Fail", b"%d why" % number).code().value[0] == number
    error = refused(server.call, "Nothing", b"")
    assert error.code() == grpc.StatusCode.UNIMPLEMENTED
    assert error.details() == "unknown method /test.Echo/Nothing"


def test_long_text_is_cut_not_lost(echo):
    error = refused(echo().call, "Fail", b"3 " + "\u20ac".encode() * 3000)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert error.details().startswith("\u20ac" * 50)


def test_request_too_large(echo):
    server = echo("--max", 1000000)
    assert len(server.call("Unary", b"x" * 1000000)) == 1000000
    error = refused(server.call, "Unary", b"x" * 1000001)
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error.details() == "grpc: received message larger than max (1000001 vs. 1000000)"


def test_deadline(echo):
    server = echo()
    channel = server.channel()
    server.call("Unary", b"connected", channel=channel)
    error = refused(server.call, "Never", b"", timeout=2, channel=channel)
    assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    server.expect("gone (DEADLINE_EXCEEDED|CANCELLED)")
    server.wait_idle((1, 0))


def test_cancel_is_told_at_once(echo):
    server = echo()
    future = server.channel().unary_unary("/test.Echo/Never", None, None).future(b"")
    server.wait_idle((1, 1))
    future.cancel()
    server.expect("gone CANCELLED")
    server.wait_idle((1, 0))


def test_slow_answers_do_not_delay_others(echo):
    server = echo()
    channel = server.channel()
    slow = [channel.unary_unary("/test.Echo/Slow", None, None).future(b"6000") for _ in range(50)]
    server.call("Unary", b"quick", channel=channel)
    assert not any(future.done() for future in slow)
    assert all(future.result() == b"slept" for future in slow)


def test_small_answers_beside_big_ones(echo):
    """On one connection the big ones share what is left by the small ones."""
    server = echo()
    channel = server.channel()
    big = [channel.unary_unary("/test.Echo/Big", None, None).future(b"30000000") for _ in range(8)]
    other = server.channel(options=[("grpc.use_local_subchannel_pool", 1)])
    waits = []
    start = time.monotonic()
    while not waits or not all(future.done() for future in big):
        began = time.monotonic()
        server.call("Unary", b"small", channel=other)
        waits.append(time.monotonic() - began)
    assert all(len(future.result()) == 30000000 for future in big)
    assert sorted(waits)[len(waits) // 2] < (time.monotonic() - start) / 4


def test_metadata(echo):
    server = echo()
    assert server.call("Metadata", b"x-key", metadata=[("x-key", "some value")]) == b"some value"
    assert server.call("Metadata", b"x-none") == b""


def test_gzip_request_is_refused_with_what_we_accept(echo):
    channel = echo().channel()
    method = channel.unary_unary("/test.Echo/Unary", None, None)
    error = refused(method, b"z" * 10000, compression=grpc.Compression.Gzip, timeout=5)
    assert error.code() == grpc.StatusCode.UNIMPLEMENTED


def test_port_taken(echo):
    import programs
    server = echo()
    second = programs.Program("http2_echo_server", "--port", server.port)
    assert second.process.wait(20) == 1
    second.reader.join(5)
    assert "Address already in use" in second.lines[0]
