# SPDX-License-Identifier: Apache-2.0
"""The server against clients that do what they should not. Each case ends with nothing left alive,
and with an ordinary client being served."""
import socket
import struct
import time

import pytest
import raw
from raw import DATA, END_STREAM, HEADERS, PING, RST, SETTINGS, Raw, frame, message

pytestmark = pytest.mark.sanitize


@pytest.fixture
def server(echo):
    server = echo("--streams", 1000)
    yield server
    assert server.call("Unary", b"still there") == b"still there"
    for channel in server.channels:
        channel.close()
    server.wait_idle()


@pytest.fixture
def client(server):
    client = Raw(server.port)
    yield client
    client.close()


EXHAUSTED = 8
PARTS = [  # body, then status and a part of the text
    (b"\0\0", 13, "within the prefix of a message (2 of 5 bytes)"),
    (message(b"abc", declared=10), 13, "3 bytes into a message of 10"),
    (message(b"", declared=0xFFFFFFFF), 8, "larger than max (4294967295 vs. 16777216)"),
    (message(b"abc", flag=1), 13, "no grpc-encoding"),
    (message(b"abc", flag=2), 13, "flag of a message is 2"),
    (message(b"a") + message(b"b"), 13, "a second one came"),
    (message(b"a") + b"\0", 13, "within the prefix"),
    (b"", 13, "none came"),
]


@pytest.mark.parametrize("body, status, text", PARTS)
def test_body(client, body, status, text):
    client.request(1, body)
    answer = client.finished(1)
    assert answer.status == status and text in answer.text
    assert answer.headers[":status"] == "200" and answer.reset is None


def test_body_byte_by_byte(client):
    client.send(client.head(1))
    for byte in message(b"slowly"):
        client.send(frame(DATA, 0, 1, bytes([byte])))
        time.sleep(0.002)
    client.send(frame(DATA, END_STREAM, 1))
    assert client.finished(1).body == message(b"slowly")


def test_no_message_at_all(client):
    client.send(client.head(1, end=True))
    answer = client.finished(1)
    assert answer.status == 13 and "none came" in answer.text


def test_too_large_is_answered_at_once_and_the_rest_is_not_wanted(client):
    client.request(1, message(b"abc", declared=1 << 30), end=False)
    answer = client.finished(1)
    assert answer.status == 8
    client.read_until(lambda: answer.reset is not None)
    assert answer.reset == 0
    client.send(frame(DATA, END_STREAM, 1, b"more"))  # crossed the reset
    client.request(3, message(b"next"))
    assert client.finished(3).body == message(b"next")


def test_unknown_encoding(client):
    client.request(1, message(b"abc", flag=1), grpc_encoding="snappy")
    answer = client.finished(1)
    assert answer.status == 12 and "snappy" in answer.text
    assert answer.headers["grpc-accept-encoding"] == "identity"


def test_declared_encoding_that_is_not_used(client):
    client.request(1, message(b"abc"), grpc_encoding="gzip")
    assert client.finished(1).body == message(b"abc")


HEADS = [  # header fields, then HTTP status, gRPC status and a part of the text
    ({"content_type": "application/json"}, "415", None, ""),
    ({"content_type": "application/grpcx"}, "415", None, ""),
    ({"drop": ("content-type",)}, "415", None, ""),
    ({"method": "GET"}, "405", 13, "GET"),
    ({"grpc_timeout": "5"}, "200", 13, "malformed grpc-timeout"),
    ({"grpc_timeout": "123456789S"}, "200", 13, "malformed grpc-timeout"),
    ({"grpc_timeout": "-1S"}, "200", 13, "malformed grpc-timeout"),
    ({"grpc_timeout": ""}, "200", 13, "malformed grpc-timeout"),
    ({"grpc_timeout": "0n"}, "200", 4, "grpc-timeout of 0"),
    ({"grpc_timeout": "1n"}, "200", 4, "deadline"),
    ({"path": "/test.Echo/Nope"}, "200", 12, "unknown method /test.Echo/Nope"),
]


@pytest.mark.parametrize("fields, http, status, text", HEADS)
def test_head(client, fields, http, status, text):
    client.send(client.head(1, **fields))
    time.sleep(0.05)
    client.send(frame(DATA, END_STREAM, 1, message(b"x")))
    answer = client.finished(1)
    assert (answer.headers[":status"], answer.status) == (http, status)
    assert text in answer.text


def test_head_that_is_fine(client):
    for number, fields in enumerate([
            {"content_type": "application/grpc+proto"}, {"content_type": "application/grpc;charset=x"},
            {"drop": ("te",)}, {"drop": (":authority",), "host": "test"}, {"grpc_timeout": "99999999H"}]):
        client.request(2 * number + 1, message(b"ok"), **fields)
        assert client.finished(2 * number + 1).body == message(b"ok")


def test_header_list_too_long(client):
    """HPACK lets few bytes stand for many: one field of 3,000 bytes, then 60,000 times its index."""
    block = client.encoder.encode([(":method", "POST"), (":scheme", "http"), (":path", "/x"), (":authority", "x"),
                                   ("content-type", "application/grpc"), ("x-long", "v" * 3000)])
    block += b"\xbe" * 12000
    client.send(frame(HEADERS, 4 | END_STREAM, 1, block))
    answer = client.finished(1)
    assert answer.headers[":status"] == "431" and answer.status == 8


BAD_MAGIC = "HTTP/2: Received bad client magic"
GARBAGE = {
    "HTTP/1.1": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", BAD_MAGIC),
    "a TLS hello": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, "the peer speaks TLS, clear text was expected"),
    "all bytes": (bytes(range(256)) * 4, BAD_MAGIC),
    "half a preface": (raw.PREFACE[:10] + b"nonsense" * 10, BAD_MAGIC),
}


@pytest.mark.parametrize(("garbage", "why"), GARBAGE.values(), ids=GARBAGE.keys())
def test_no_http2(server, garbage, why):
    client = Raw(server.port, greet=False)
    client.send(garbage)
    client.read_to_close()
    client.close()
    server.expect(f"disconnect {why}")


PROTOCOL_ERRORS = [
    frame(HEADERS, 4, 2, b"\x82"),                     # an even stream
    frame(HEADERS, 4, 1, b"\xff" * 30),                # no HPACK
    frame(SETTINGS, 0, 0, b"12345"),                   # 5 bytes
    struct.pack(">I", 0xFFFFFF)[1:] + b"\0\0\0\0\0\1",  # a frame of 16 MiB
    frame(DATA, 0, 1, b"x"),                           # an idle stream
    frame(raw.WINDOW, 0, 0, struct.pack(">I", 0x7FFFFFFF)) * 2,
    frame(raw.CONTINUATION, 4, 1, b"\x82"),
    frame(RST, 0, 1, b"\0\0\0\0"),
]


@pytest.mark.parametrize("bytes_", PROTOCOL_ERRORS)
def test_protocol_error_says_goaway(client, server, bytes_):
    client.send(bytes_)
    client.read_to_close()
    assert client.goaways and client.goaways[0][1] != 0
    server.expect("disconnect ")


def test_unknown_frames_are_ignored(client):
    client.send(frame(0x77, 0xFF, 0, b"abc"), frame(0x99, 0, 5, b""))
    client.request(1, message(b"x"))
    assert client.finished(1).body == message(b"x")


def test_continuation_flood(client, server):
    client.send(frame(HEADERS, 0, 1, client.encoder.encode([(":method", "POST")])))
    try:
        for _ in range(4000):
            client.send(frame(raw.CONTINUATION, 0, 1, b"\x40\x01a" + b"\x20" + b"b" * 32))
    except OSError:
        pass
    client.read_to_close()
    server.expect("disconnect ")


def test_pings_are_answered(client):
    for number in range(200):
        client.send(frame(PING, 0, 0, struct.pack(">Q", number)))
    client.read_until(lambda: client.pongs == 200)
    client.request(1, message(b"x"))
    assert client.finished(1).body == message(b"x")


@pytest.mark.parametrize("flood", [frame(PING, 0, 0, b"12345678"), frame(SETTINGS, 0, 0, b"")])
def test_flood(client, server, flood):
    try:
        client.send(flood * 20000)
    except OSError:
        pass
    client.read_to_close()
    assert client.goaways and client.goaways[0][1:] == (11, b"too_many_pings")
    server.expect("disconnect too_many_pings")


def test_rapid_reset(client, server):
    """10,000 calls that are reset at once: bounded, and each is told to its owner."""
    try:
        for first in range(1, 20001, 200):
            client.send(*[client.head(stream, "/test.Echo/Never") + frame(DATA, END_STREAM, stream, message(b""))
                          + frame(RST, 0, stream, b"\0\0\0\x08") for stream in range(first, first + 200, 2)])
    except OSError:
        pass
    client.read_to_close()
    assert client.goaways[0][1] != 0
    server.wait_idle()
    assert sum(line.startswith("gone") for line in server.lines) >= 1000


def test_ten_thousand_streams(client, server):
    """1,000 run, the others are refused in a way that says that a retry is safe."""
    for first in range(1, 20001, 200):
        client.send(*[client.head(stream, "/test.Echo/Never") + frame(DATA, 0, stream, message(b"x"))
                      for stream in range(first, first + 200, 2)])
    client.read_until(lambda: sum(a.reset == 7 for a in client.answers.values()) == 9000, 30)
    assert server.live()[1] == 1000
    assert server.call("Unary", b"beside them") == b"beside them"
    assert client.settings[3] == 1000


def test_declared_but_never_sent(client, server):
    """1,000 times 16 MiB declared: no memory is touched for it."""
    before = server.resident_mib()
    for stream in range(1, 2001, 2):
        client.request(stream, message(b"x", declared=16 << 20), end=False)
    server.wait_idle((1, 1000))
    time.sleep(0.2)
    assert server.resident_mib() - before < (40 if "asan" not in str(server.process.args[0]) else 10000)


def test_many_empty_data_frames(client):
    client.send(client.head(1))
    client.send(frame(DATA, 0, 1) * 50000)
    client.send(frame(DATA, END_STREAM, 1, message(b"x")))
    assert client.finished(1).body == message(b"x")


def test_request_window_is_given_back(client):
    client.send(client.head(1, "/test.Echo/Collect"))
    client.read_until(lambda: 4 in client.settings)
    window, sent = client.settings[4], 0
    chunk = frame(DATA, 0, 1, message(b"y" * 16000))
    for _ in range(500):
        while sent + 16005 > window + client.updates.get(1, 0):
            assert client.read()
        client.send(chunk)
        sent += 16005
    client.send(frame(DATA, END_STREAM, 1))
    assert client.finished(1).body == message(b"500 8000000")


def test_client_vanishes_in_mid_answer(server):
    client = Raw(server.port)
    client.request(1, message(b"100000000"), "/test.Echo/Big")
    client.read()
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    server.wait_idle()
    assert server.live()[2] == 0


def test_client_vanishes_in_mid_request(server):
    client = Raw(server.port)
    client.request(1, message(b"x" * 10, declared=1000), end=False)
    server.wait_idle((1, 1))
    client.close()
    server.expect("gone UNAVAILABLE ")


def test_half_open_connections(echo):
    server = echo("--greeting", 4000)    # who is only slow is done by then
    silent = Raw(server.port, greet=False)
    partial = Raw(server.port, greet=False)
    partial.send(raw.PREFACE)
    fine = Raw(server.port)
    server.wait_idle((3, 0))
    silent.read_to_close()
    partial.read_to_close()
    server.expect("disconnect no HTTP/2 SETTINGS within 4000 ms")
    server.wait_idle((1, 0))
    fine.request(1, message(b"x"))
    assert fine.finished(1).body == message(b"x")
    for client in (silent, partial, fine):
        client.close()
    server.wait_idle()


def test_three_thousand_idle_connections(server):
    clients = []
    try:
        for _ in range(900):  # the descriptors of this process are the limit here
            clients.append(Raw(server.port))
    except OSError:
        pass
    server.wait_idle((len(clients), 0))
    held = server.live()[2] / len(clients)
    for client in clients:
        client.close()
    assert len(clients) > 400 and held < 65536


def test_slow_reader_holds_its_answer_only(server):
    """Windows of 1 KiB, opened by hand: others are not delayed, the answer is whole."""
    client = Raw(server.port, settings=[(4, 1024)])
    client.request(1, message(b"200000"), "/test.Echo/Big")
    for _ in range(10):
        assert server.call("Unary", b"other", timeout=10) == b"other"
    answer = client.answer(1)
    while not answer.ended:
        before = len(answer.body)
        client.read_until(lambda: len(answer.body) > before or answer.ended)
        gained = len(answer.body) - before
        if gained:
            client.send(frame(raw.WINDOW, 0, 1, struct.pack(">I", gained)),
                        frame(raw.WINDOW, 0, 0, struct.pack(">I", gained)))
    assert len(answer.body) == 200005 and answer.status == 0
    client.close()


def test_stalled_window_is_told_why(echo):
    server = echo("--stall", 400)
    client = Raw(server.port, settings=[(4, 1024)])
    client.request(1, message(b"1000000"), "/test.Echo/Big")
    client.request(3, message(b"quick"))
    assert client.finished(3).body == message(b"quick")
    answer = client.finished(1)
    assert (len(answer.body), answer.status, answer.reset) == (1024, EXHAUSTED, None)
    assert answer.text == ("the client took 1024 bytes of the answer in 400 ms, at least 65536 are expected; 998981 were "
                           "still to be read: read faster, or ask for less")
    server.wait_idle((1, 0))
    client.request(5, message(b"still fine"))
    assert client.finished(5).body == message(b"still fine")
    client.close()


def test_stalled_request_and_answer_are_told_why(echo):
    """The client has not said everything, either: the end of the answer is followed by a reset without an error."""
    server = echo("--stall", 400)
    client = Raw(server.port, settings=[(4, 1024)])
    client.request(1, message(b"x" * 5000), "/test.Echo/Bidi", end=False)
    answer = client.answer(1)
    client.read_until(lambda: answer.reset is not None)
    assert (len(answer.body), answer.status, answer.reset) == (1024, EXHAUSTED, 0)
    server.wait_idle((1, 0))
    client.close()


def test_a_window_that_opens_late_changes_nothing(echo):
    server = echo("--stall", 400)
    client = Raw(server.port, settings=[(4, 1024)])
    client.request(1, message(b"1000000"), "/test.Echo/Big")
    assert client.finished(1).status == EXHAUSTED
    client.send(frame(raw.WINDOW, 0, 1, struct.pack(">I", 1 << 20)))
    client.request(3, message(b"quick"))
    assert client.finished(3).body == message(b"quick")
    assert len(client.answer(1).body) == 1024
    client.close()


def test_a_trickle_is_cut(echo):
    """Something is taken all the time, but far less than could be waited for."""
    server = echo("--stall", 4000)
    client = Raw(server.port, settings=[(4, 1024)])
    client.request(1, message(b"1000000"), "/test.Echo/Big")
    answer, taken = client.answer(1), 0
    client.socket.settimeout(10)
    while not answer.ended and client.read():
        if len(answer.body) > taken:
            time.sleep(0.1)
            gained, taken = len(answer.body) - taken, len(answer.body)
            client.send(frame(raw.WINDOW, 0, 1, struct.pack(">I", gained)))
    assert answer.status == EXHAUSTED and 2048 < len(answer.body) < 65536
    client.close()


def take_a_little_too_slowly(port):
    """The answer, of which 64 KiB take 3 s; and the longest pause in seconds."""
    client = Raw(port)
    client.request(1, message(b"1000000"), "/test.Echo/Big")
    answer = client.answer(1)
    client.read_until(lambda: len(answer.body) == 65535)
    taken_at, longest = time.monotonic(), 0
    while not answer.ended:
        time.sleep(0.1)
        seen = len(answer.body)
        client.send(frame(raw.WINDOW, 0, 1, struct.pack(">I", 2184)), frame(raw.WINDOW, 0, 0, struct.pack(">I", 2184)))
        client.read_until(lambda: answer.ended or len(answer.body) >= seen + 2184)  # noqa: B023
        before, taken_at = taken_at, time.monotonic()
        longest = max(longest, taken_at - before)
    client.close()
    return answer, longest


def test_a_little_too_slow_is_cut(echo):
    """64 KiB take 3 s instead of 2.5, and not from the moment at which the watch began. When the machine lets one of the
    two wait it is another pace, which shows nothing."""
    server = echo("--stall", 2500)
    for _ in range(5):
        answer, longest = take_a_little_too_slowly(server.port)
        assert answer.status == EXHAUSTED
        if longest < 0.4:
            break
    assert 65536 < len(answer.body) < 2 * 65536


def test_stalled_socket_is_closed(echo):
    server = echo("--stall", 400)
    client = Raw(server.port, settings=[(4, 0x7FFFFFFF)], receive_buffer=4096)
    client.send(frame(raw.WINDOW, 0, 0, struct.pack(">I", 0x7FFF0000)))
    client.request(1, message(b"50000000"), "/test.Echo/Big")
    server.expect("disconnect the client took no bytes for 400 ms")
    server.wait_idle()
    client.close()


@pytest.mark.parametrize("sent", [3, 5, 15, 69, 500])
def test_stalled_request_is_failed(echo, sent):
    """Within the prefix, the head that the owner is asked with, and what follows."""
    server = echo("--stall", 400)
    client = Raw(server.port)
    client.request(1, message(b"x" * 1000)[:sent], end=False)
    answer = client.finished(1)
    assert answer.status == 4 and "rest of the request" in answer.text
    server.expect("gone DEADLINE_EXCEEDED")
    client.close()


def test_deadline_while_the_answer_waits_for_the_client(server):
    client = Raw(server.port, settings=[(4, 1024)])
    client.request(1, message(b"1000000"), "/test.Echo/Big", grpc_timeout="300m")
    answer = client.finished(1)
    assert (len(answer.body), answer.status, answer.reset) == (1024, 4, None)
    server.wait_idle((1, 0))
    client.close()


def test_two_streams_share_the_connection_fairly(server):
    """While a big answer is under way, a small one overtakes it."""
    client = Raw(server.port, settings=[(4, 0x7FFFFFFF)])
    client.send(frame(raw.WINDOW, 0, 0, struct.pack(">I", 0x7FFF0000)))
    client.request(1, message(b"50000000"), "/test.Echo/Big")
    client.read()
    client.request(3, message(b"small"))
    client.finished(3)
    assert not client.answer(1).ended
    assert len(client.finished(1).body) == 50000005
    client.close()


def test_trailers_of_a_request_end_it(client):
    client.send(client.head(1), frame(DATA, 0, 1, message(b"x")))
    block = client.encoder.encode([("x-trailer", "yes")])
    client.send(frame(HEADERS, 4 | END_STREAM, 1, block))
    assert client.finished(1).body == message(b"x")


def test_settings_change_while_an_answer_waits(client):
    client.send(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)))
    client.request(1, message(b"100000"), "/test.Echo/Big")
    time.sleep(0.1)
    client.send(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 20)))
    client.send(frame(raw.WINDOW, 0, 0, struct.pack(">I", 1 << 20)))
    assert len(client.finished(1).body) == 100005


def test_reset_in_mid_answer(server):
    """Part of the answer is on its way to the kernel when the client does not want it any more. Without a small
    buffer kernels take all of it from a server that is ahead of its client."""
    client = Raw(server.port, settings=[(4, 0x7FFFFFFF)], receive_buffer=65536)
    client.send(frame(raw.WINDOW, 0, 0, struct.pack(">I", 0x7FFF0000)))
    for stream in range(1, 41, 2):
        client.request(stream, message(b"20000000"), "/test.Echo/Big")
        client.read_until(lambda: len(client.answer(stream).body) > 100000)
        client.send(frame(RST, 0, stream, struct.pack(">I", 8)))
    client.request(99, message(b"x"))
    assert client.finished(99).body == message(b"x")
    server.wait_idle((1, 0))
    assert not any(client.answer(stream).ended for stream in range(1, 41, 2))
    client.close()


def test_input_that_is_held(client):
    """No more than a window comes in while the server holds the client back."""
    began = time.monotonic()
    client.send(client.head(1, "/test.Echo/Collect", x_hold="1"))
    client.read_until(lambda: 4 in client.settings)
    for _ in range(64):
        client.send(frame(DATA, 0, 1, message(b"y" * 16379)))
    client.read_until(lambda: client.updates.get(1))
    assert time.monotonic() - began > 0.3
    client.send(frame(DATA, END_STREAM, 1))
    assert client.finished(1).body == message(b"64 1048256")
