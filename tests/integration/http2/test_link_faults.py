# SPDX-License-Identifier: Apache-2.0
"""Links and calls against peers that misbehave."""
import struct
import threading
import time

import pytest
from fake import Fake
from raw import DATA, END_STREAM, GOAWAY, HEADERS, PING, RST, SETTINGS, WINDOW, frame, message

pytestmark = pytest.mark.sanitize


def code(number):
    return struct.pack(">I", number)


def ask(links, script, *sends, program=(), **more):
    """One call to a fake; returns its end and the client."""
    fake = Fake(script)
    client = links(*program)
    link = client.link(fake.address)
    call = client.call(link, "/x/Method", *(sends or ("q",)), **more)
    end = client.end(call)
    client.tell("close", link)
    fake.join()
    return end, client


def answering(*make):
    """A script that answers the first request with these frames."""
    def script(peer):
        peer.greet()
        stream = peer.wait_for(HEADERS)[2]
        peer.wait_for(DATA)
        peer.send(*[part(peer, stream) for part in make])
        while True:
            peer.next()
    return script


def begin(peer, stream):
    return peer.begin(stream)


def data(body, end=False):
    return lambda peer, stream: frame(DATA, END_STREAM if end else 0, stream, body)


def trailers(status=0, text=""):
    return lambda peer, stream: peer.trailers(stream, status, text)


def reset(number):
    return lambda peer, stream: frame(RST, 0, stream, code(number))


def block(*fields, end=False):
    return lambda peer, stream: peer.head(stream, *fields, end=end)


GRPC = ("content-type", "application/grpc")
ENDS = [  # frames, then code and a part of the text
    ((begin, data(message(b"fine")), trailers()), "OK", ""),
    ((begin, trailers(14, "a%20b%")), "UNAVAILABLE", "a b%"),
    ((begin, trailers(99, "odd")), "UNKNOWN", "odd"),
    ((begin, trailers(14)), "UNAVAILABLE", "the peer gave no reason"),
    ((begin, trailers("x")), "UNKNOWN", "malformed grpc-status"),
    ((block((":status", "200"), GRPC, ("grpc-status", "5"), ("grpc-message", "none"), end=True),), "NOT_FOUND", "none"),
    ((block((":status", "503"), end=True),), "UNAVAILABLE", "HTTP status 503"),
    ((block((":status", "404"), ("content-type", "text/html")), data(b"<html>")), "UNIMPLEMENTED", "text/html"),
    ((block((":status", "200"), ("content-type", "text/html")), data(b"<html>")), "UNKNOWN", "text/html"),
    ((begin, data(message(b"x"), end=True)), "UNKNOWN", "without a grpc-status"),
    ((begin, data(message(b"x", declared=100)), trailers()), "INTERNAL", "1 bytes into a message of 100"),
    ((begin, data(b"\0\0"), trailers()), "INTERNAL", "within the prefix"),
    ((begin, data(b"\0\0"), trailers(8, "said so")), "RESOURCE_EXHAUSTED", "said so"),
    ((begin, data(message(b"x", flag=1))), "INTERNAL", "no grpc-encoding"),
    ((begin, data(message(b"", declared=0xFFFFFFFF))), "RESOURCE_EXHAUSTED", "larger than max"),
    ((block((":status", "200"), GRPC, ("grpc-encoding", "br")), data(message(b"x", flag=1))), "UNIMPLEMENTED", "br"),
    ((begin, reset(0)), "INTERNAL", "NO_ERROR"),
    ((begin, reset(2)), "INTERNAL", "INTERNAL_ERROR"),
    ((reset(7),), "UNAVAILABLE", "retry is safe"),
    ((begin, reset(8)), "CANCELLED", "CANCEL"),
    ((begin, reset(11)), "RESOURCE_EXHAUSTED", "ENHANCE_YOUR_CALM"),
    ((begin, reset(12)), "PERMISSION_DENIED", "INADEQUATE_SECURITY"),
]


@pytest.mark.parametrize("frames, expected, text", ENDS)
def test_end(links, frames, expected, text):
    end, _ = ask(links, answering(*frames))
    assert end[0] == expected and text in end[1]


def test_informational_headers_come_before(links):
    frames = (block((":status", "103"), ("link", "x")), begin, data(message(b"ok")), trailers())
    end, client = ask(links, answering(*frames))
    assert end[0] == "OK"
    client.expect("message .* ok")


def test_limit_of_a_message(links):
    end, _ = ask(links, answering(begin, data(message(b"", declared=1001))), program=(1000,))
    assert end == ("RESOURCE_EXHAUSTED", "grpc: received message larger than max (1001 vs. 1000)")


def test_trailers_too_long(links):
    frames = (begin, lambda peer, stream: peer.head(stream, ("x", "y" * 3000), *[("x", "y" * 3000)] * 60,
                                                    ("grpc-status", "0"), end=True))
    end, _ = ask(links, answering(*frames))
    assert end[0] == "RESOURCE_EXHAUSTED" and "exceed" in end[1]


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0" * 40])
def test_no_http2(links, said):
    def script(peer):
        peer.send(said)
        peer.socket.close()
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    call = client.call(link, "/x/Method", "q")
    assert client.end(call)[0] == "UNAVAILABLE"
    client.expect(f"state {link} CLOSED")
    fake.join()


def test_peer_that_accepts_and_is_silent(links):
    def script(peer):
        while True:
            peer.next()
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    call = client.call(link, "/x/Method", "q")
    assert "within 2000 ms" in client.expect(f"state {link} CLOSED (.*)")[1]
    assert client.end(call)[0] == "UNAVAILABLE"
    fake.join()


def test_goaway_ends_calls_above_its_last_id(links):
    def script(peer):
        peer.greet()
        first = peer.wait_for(HEADERS)[2]
        peer.wait_for(HEADERS)
        peer.send(frame(GOAWAY, 0, 0, code(first) + code(0) + b"tidying"))
        time.sleep(0.2)
        peer.send(peer.begin(first), frame(DATA, 0, first, message(b"late")), peer.trailers(first))
        while True:
            peer.next()
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    first = client.call(link, "/x/Method", "q")
    second = client.call(link, "/x/Method", "q")
    ended = client.end(second)
    assert ended[0] == "UNAVAILABLE" and "retry is safe" in ended[1]
    assert client.end(first) == ("OK", "")
    client.expect(f"state {link} DRAINING the peer said GOAWAY .*tidying")
    client.expect(f"state {link} CLOSED")
    fake.join()


def test_goaway_while_calls_wait_for_a_stream(links):
    """The peer allows one stream: the second call was never sent."""
    waits = threading.Event()

    def script(peer):
        peer.greet(settings=[(3, 1)])
        first = peer.wait_for(HEADERS)[2]
        peer.wait_for(DATA)
        assert waits.wait(10)
        peer.send(frame(GOAWAY, 0, 0, code(0x7FFFFFFF) + code(0)))
        peer.send(peer.begin(first), frame(DATA, 0, first, message(b"x")), peer.trailers(first))
        while True:
            peer.next()
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    client.expect(f"state {link} READY")
    first = client.call(link, "/x/Method", "q")
    second = client.call(link, "/x/Method", "q")
    client.live()
    waits.set()
    assert client.end(first) == ("OK", "")
    ended = client.end(second)
    assert ended[0] == "UNAVAILABLE" and "retry is safe" in ended[1]
    fake.join()


@pytest.mark.parametrize("last", [0x7FFFFFFF, None], ids=["graceful", "with the last id"])
def test_goaway_does_not_make_calls_wait_for_their_deadline(links, last):
    """The call that has the only stream goes on, the one behind it would never get one."""
    answer = threading.Event()

    def script(peer):
        peer.greet(settings=[(3, 1)])
        first = peer.wait_for(HEADERS)[2]
        peer.wait_for(DATA)
        peer.send(frame(GOAWAY, 0, 0, code(first if last is None else last) + code(0)))
        assert answer.wait(10)
        peer.send(peer.begin(first), frame(DATA, 0, first, message(b"x")), peer.trailers(first))
        while True:
            assert peer.next()[0] != HEADERS, "a stream was opened after GOAWAY"
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    client.expect(f"state {link} READY")
    first = client.call(link, "/x/Method", "q")
    second = client.call(link, "/x/Method", "q")
    ended = client.end(second)
    assert ended[0] == "UNAVAILABLE" and "retry is safe" in ended[1]
    answer.set()
    assert client.end(first) == ("OK", "")
    fake.join()


def test_a_refused_call_closes_the_link(links):
    """As a health check does. The one that had a stream goes with the link."""
    tied = threading.Event()

    def script(peer):
        peer.greet(settings=[(3, 1)])
        peer.wait_for(HEADERS)
        tied.wait(10)
        peer.send(frame(GOAWAY, 0, 0, code(0x7FFFFFFF) + code(0)))
        while True:
            peer.next()
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    client.expect(f"state {link} READY")
    first = client.call(link, "/x/Method", "q")
    second = client.call(link, "/x/Method", "q")
    client.tell("tie", second, link)
    client.live()
    tied.set()
    assert "retry is safe" in client.end(second)[1]
    assert "was closed here" in client.end(first)[1]
    client.wait_idle()
    fake.join()


def test_cancel_of_a_call_that_waits_for_a_stream(links):
    cancelled = threading.Event()

    def script(peer):
        peer.greet(settings=[(3, 1)])
        for _ in range(2):
            stream = peer.wait_for(HEADERS)[2]
            peer.wait_for(DATA)
            assert cancelled.wait(10)
            peer.send(peer.begin(stream), frame(DATA, 0, stream, message(b"x")), peer.trailers(stream))
        while True:
            peer.next()
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    client.expect(f"state {link} READY")
    first, second, third = (client.call(link, "/x/Method", "q") for _ in range(3))
    client.tell("cancel", second)
    client.live()
    cancelled.set()
    assert client.end(first) == ("OK", "")
    assert client.end(third) == ("OK", "")
    client.tell("close", link)
    fake.join()


def test_pings_of_the_peer_are_answered_and_none_are_sent(links):
    def script(peer):
        peer.greet()
        stream = peer.wait_for(HEADERS)[2]
        peer.send(frame(PING, 0, 0, b"bdp-ping"))
        kind, flags, _, payload = peer.wait_for(PING)
        assert (kind, flags, payload) == (PING, 1, b"bdp-ping")
        peer.send(peer.begin(stream), peer.trailers(stream, 0))
        peer.socket.settimeout(0.5)
        try:
            while True:
                assert peer.next()[0] != PING
        except TimeoutError:
            pass
    end, _ = ask(links, script)
    assert end[0] == "OK"


def test_windows_are_announced_for_large_answers(links):
    announced = {}

    def script(peer):
        peer.greet()
        while not announced.get("connection"):
            kind, flags, stream, payload = peer.next()
            if kind == SETTINGS and not flags:
                pairs = dict(struct.unpack_from(">HI", payload, at) for at in range(0, len(payload), 6))
                announced["stream"] = pairs[4]
                announced["push"] = pairs[2]
            if kind == WINDOW and stream == 0:
                announced["connection"] = 65535 + struct.unpack(">I", payload)[0]
            if kind == HEADERS:
                announced["id"] = stream
        answering(begin)
        stream = announced.get("id") or peer.wait_for(HEADERS)[2]
        peer.send(peer.begin(stream), peer.trailers(stream))
        while True:
            peer.next()
    end, _ = ask(links, script)
    assert end[0] == "OK" and announced["push"] == 0
    assert announced["stream"] >= 32 << 20 and announced["connection"] >= 32 << 20


def test_answer_before_the_request_is_complete(links):
    """The peer refuses early: the rest of the request is not sent any more."""
    def script(peer):
        peer.greet()
        stream = peer.wait_for(HEADERS)[2]
        peer.send(peer.head(stream, (":status", "200"), GRPC, ("grpc-status", "7"), end=True))
        kind, _, id_, payload = peer.wait_for(RST)
        assert id_ == stream and payload == code(0)
        while True:
            peer.next()
    end, _ = ask(links, script, 10000000)
    assert end[0] == "PERMISSION_DENIED"


def test_connection_lost_in_mid_answer(links):
    def script(peer):
        peer.greet()
        stream = peer.wait_for(HEADERS)[2]
        peer.wait_for(DATA)
        peer.send(peer.begin(stream), frame(DATA, 0, stream, message(b"x" * 100, declared=1000)))
        peer.socket.close()
    end, client = ask(links, script)
    assert end[0] == "UNAVAILABLE"
    assert not any(line.startswith("message") for line in client.lines)


def test_half_answers_then_fine_ones(links):
    """Several calls on one link fail in different ways; the others do not notice."""
    def script(peer):
        peer.greet()
        for number in range(30):
            stream = peer.wait_for(HEADERS)[2]
            peer.wait_for(DATA)
            if number % 3 == 0:
                peer.send(frame(RST, 0, stream, code(2)))
            elif number % 3 == 1:
                peer.send(peer.begin(stream), frame(DATA, 0, stream, message(b"y", flag=7) * 50))
            else:
                peer.send(peer.begin(stream), frame(DATA, 0, stream, message(b"ok")), peer.trailers(stream))
        while True:
            peer.next()
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    ends = []
    for _ in range(30):
        ends.append(client.end(client.call(link, "/x/Method", "q"))[0])
    assert ends == ["INTERNAL", "INTERNAL", "OK"] * 10
    client.tell("close", link)
    fake.join()


def test_cancel_in_mid_request(links):
    """Part of the request is on its way to the kernel; the link goes on to serve others."""
    def script(peer):
        peer.greet(settings=[(4, 0x7FFFFFFF)])
        peer.send(frame(WINDOW, 0, 0, code(0x7FFF0000)))
        first = peer.wait_for(HEADERS)[2]
        time.sleep(0.3)
        assert peer.wait_for(RST)[2:] == (first, code(8))
        second = peer.wait_for(HEADERS)[2]
        peer.send(peer.begin(second), frame(DATA, 0, second, message(b"ok")), peer.trailers(second))
        while True:
            peer.next()
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    client.expect(f"state {link} READY")
    call = client.call(link, "/x/Method", 50000000)
    time.sleep(0.2)
    client.tell("cancel", call)
    assert client.end(client.call(link, "/x/Method", "q")) == ("OK", "")
    client.tell("close", link)
    fake.join()
