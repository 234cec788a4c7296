# SPDX-License-Identifier: Apache-2.0
"""Leaving without losing a call."""
import struct
import threading
import time

import grpc
import pytest
from process import wait_until
from raw import ACK, PING, WINDOW, Raw, frame, message

pytestmark = pytest.mark.sanitize

WINDOW_OF_HTTP2 = 65_535    # bytes that may be sent before the client says more


def test_two_goaways_and_what_comes_between_them(echo):
    server = echo()
    client = Raw(server.port)
    client.request(1, message(b"600"), "/test.Echo/Slow")
    client.read_until(lambda: client.settings)
    server.tell("drain")
    client.read_until(lambda: len(client.goaways) == 1)
    assert client.goaways[0][:2] == (0x7FFFFFFF, 0)
    client.request(3, message(b"in between"))  # the client has not seen the GOAWAY, so to say
    assert client.finished(3).body == message(b"in between")
    client.send(frame(PING, ACK, 0, b"\0" * 8))
    client.read_until(lambda: len(client.goaways) == 2)
    assert client.goaways[1][:2] == (3, 0)
    client.request(5, message(b"too late"))
    assert client.finished(1).body == message(b"slept")
    client.read_to_close()
    assert not client.answers.get(5) or not client.answers[5].headers
    server.expect("drained")
    client.close()


def test_ping_that_is_not_answered(echo):
    server = echo()
    client = Raw(server.port)
    client.request(1, message(b"x"))
    client.finished(1)
    began = time.monotonic()
    server.tell("drain")
    client.read_until(lambda: len(client.goaways) == 2)
    assert time.monotonic() - began > 0.8, "it did not wait for the answer"
    client.read_to_close()
    server.expect("drained")
    client.close()


def test_nobody_connected(echo):
    server = echo()
    server.tell("drain")
    server.expect("drained")
    with pytest.raises(grpc.RpcError):
        server.call("Unary", b"x", timeout=1)


def test_a_big_answer_is_sent_to_its_end(echo):
    server = echo()
    client = Raw(server.port)
    client.request(1, message(b"5000000"), "/test.Echo/Big")
    client.read_until(lambda: len(client.answer(1).body) == WINDOW_OF_HTTP2)
    server.tell("drain")
    client.read_until(lambda: client.goaways)
    client.send(*(frame(WINDOW, 0, stream, struct.pack(">I", 5_000_000)) for stream in (0, 1)))
    assert len(client.finished(1).body) == len(message(b"")) + 5_000_000
    client.close()
    server.expect("drained")


def test_connected_but_silent(echo):
    """Neither greeting nor PING: the drain does not wait for it for ever."""
    server = echo()
    silent = Raw(server.port, greet=False)
    server.wait_idle((1, 0))
    server.tell("drain")
    server.expect("drained")
    silent.close()


def test_no_call_is_lost_between_two_generations(echo):
    """Clients call without pause while the first of two servers on one port drains."""
    first = echo("--reuse", 1)
    second = echo("--reuse", 1, "--port", first.port)
    stop = threading.Event()
    lost = []
    made = [0]

    def work():
        while not stop.is_set():
            options = [("grpc.use_local_subchannel_pool", 1)]
            with grpc.insecure_channel(first.address, options=options) as channel:
                method = channel.unary_unary("/test.Echo/Unary", None, None)
                for _ in range(20):
                    try:
                        method(b"x", timeout=20)
                        made[0] += 1
                    except grpc.RpcError as error:
                        lost.append(str(error.details()))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    try:
        wait_until(lambda: made[0] > 200, 60, "calls before it leaves")
        first.tell("drain")
        first.expect("drained")
        after = made[0]
        wait_until(lambda: made[0] > after + 200, 60, "calls of the other one")
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert not lost
