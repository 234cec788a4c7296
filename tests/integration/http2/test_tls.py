# SPDX-License-Identifier: Apache-2.0
"""The same over TLS."""
import socket
import ssl
import struct
import subprocess

import grpc
import pytest
from fake import Fake

pytestmark = [pytest.mark.sanitize, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    """A CA, and a certificate of it for localhost and 127.0.0.1."""
    folder = tmp_path_factory.mktemp("pki")

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=server", "-keyout", "server.key",
            "-out", "server.csr")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", "names", "-out", "server.pem")
    return folder


@pytest.fixture
def server(echo, pki):
    return echo("--cert", pki / "server.pem", "--key", pki / "server.key")


def test_grpcio(server, pki):
    credentials = grpc.ssl_channel_credentials((pki / "ca.pem").read_bytes())
    channel = server.channel(credentials)
    for size in (0, 1, 16384, 1 << 20, 16 << 20):
        assert server.call("Unary", b"t" * size, channel=channel) == b"t" * size
    assert len(server.call("Big", b"67108864", channel=channel)) == 67108864
    stream = channel.unary_stream("/test.Echo/Stream", None, None)
    assert [len(part) for part in stream(b"300 50000")] == [50000] * 300


def test_link(server, links, pki):
    client = links()
    for address in (f"localhost:{server.port}", f"127.0.0.1:{server.port}", f"localhost.:{server.port}"):
        link = client.link(address, pki / "ca.pem")
        call = client.call(link, "/test.Echo/Unary", "hello")
        assert client.end(call) == ("OK", "")
        big = client.call(link, "/test.Echo/Big", "67108864")
        client.expect(f"message {big} 67108864 ", 20)
        up = client.call(link, "/test.Echo/Unary", 16000000)
        client.expect(f"message {up} 16000000 ", 20)
        assert client.end(up) == ("OK", "")
        client.tell("close", link)


def test_link_does_not_trust_strangers(server, links, pki):
    client = links()
    link = client.link(f"localhost:{server.port}", pki / "other.pem")
    assert "certificate verify failed" in client.expect(f"state {link} CLOSED (.*)")[1]


def test_link_checks_the_name(server, links, pki):
    client = links()
    link = client.link(f"[::1]:{server.port}", pki / "ca.pem")
    assert "certificate verify failed" in client.expect(f"state {link} CLOSED (.*)")[1]


def test_clear_text_to_a_tls_port(server, links):
    client = links()
    link = client.link(server.address)
    ended = client.expect(f"state {link} CLOSED (.*)")[1]
    assert ended == "the peer closed the connection, and nothing had come: does it expect TLS? (--its-switch)"
    with pytest.raises(grpc.RpcError):
        server.call("Unary", b"x", timeout=2)
    server.expect("disconnect TLS handshake: the peer speaks clear text")


def test_tls_to_a_clear_port(echo, links, pki):
    """A server that reads the TLS before it has said its SETTINGS leaves without a word."""
    server = echo()
    client = links()
    link = client.link(f"localhost:{server.port}", pki / "ca.pem")
    ended = client.expect(f"state {link} CLOSED (.*)")[1]
    assert ended in (
        "TLS handshake: the peer speaks clear text: turn TLS on there, or off here (--its-switch)",
        "TLS handshake: the peer closed the connection, and nothing had come: does it speak clear text? (--its-switch)")
    server.expect("disconnect the peer speaks TLS, clear text was expected")


def test_a_peer_that_answers_clear_text_with_an_alert(links):
    def script(peer):
        peer.socket.recv(1)
        peer.send(b"\x15\x03\x01\x00\x02\x02\x46")
        peer.socket.recv(1 << 16)
    fake = Fake(script)
    client = links()
    link = client.link(fake.address)
    ended = client.expect(f"state {link} CLOSED (.*)")[1]
    assert ended == "the peer speaks TLS, clear text was expected: turn TLS on here (--its-switch)"
    fake.join()


@pytest.mark.parametrize("tls", [False, True], ids=["clear text", "TLS"])
@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
def test_a_peer_that_closes_without_a_word(links, pki, tls, reset):
    """As Go's TLS does when what comes is not TLS."""
    def script(peer):
        peer.socket.recv(1)
        if reset:
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            peer.socket.recv(1 << 16)
    fake = Fake(script)
    client = links()
    link = client.link(fake.address, *([pki / "ca.pem"] if tls else []))
    ended = client.expect(f"state {link} CLOSED (.*)")[1]
    assert f"does it {'speak clear text' if tls else 'expect TLS'}? (--its-switch)" in ended
    fake.join()


@pytest.mark.parametrize("protocols", [["http/1.1"], []])
def test_client_without_h2(server, pki, protocols):
    context = ssl.create_default_context(cafile=pki / "ca.pem")
    if protocols:
        context.set_alpn_protocols(protocols)
    with socket.create_connection(("127.0.0.1", server.port)) as plain:
        try:
            with context.wrap_socket(plain, server_hostname="localhost") as secure:
                secure.settimeout(10)
                assert secure.recv(100) == b""
        except (ssl.SSLError, ConnectionResetError):
            pass
    server.expect("disconnect TLS handshake")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_versions(server, pki, version):
    context = ssl.create_default_context(cafile=pki / "ca.pem")
    context.set_alpn_protocols(["h2"])
    context.minimum_version = context.maximum_version = version
    context.set_ciphers("DEFAULT@SECLEVEL=0")
    with socket.create_connection(("127.0.0.1", server.port)) as plain:
        if version < ssl.TLSVersion.TLSv1_2:
            with pytest.raises(ssl.SSLError):
                context.wrap_socket(plain, server_hostname="localhost")
            return
        with context.wrap_socket(plain, server_hostname="localhost") as secure:
            assert secure.selected_alpn_protocol() == "h2"


def test_peer_leaves_without_farewell(server, pki):
    context = ssl.create_default_context(cafile=pki / "ca.pem")
    context.set_alpn_protocols(["h2"])
    plain = socket.create_connection(("127.0.0.1", server.port))
    secure = context.wrap_socket(plain, server_hostname="localhost")
    server.wait_idle((1, 0))
    secure.close()
    server.expect("disconnect (the peer closed the connection|(read|write): Connection reset)")


def test_handshake_that_does_not_go_on(echo, pki):
    server = echo("--cert", pki / "server.pem", "--key", pki / "server.key", "--greeting", 400)
    silent = socket.create_connection(("127.0.0.1", server.port))
    silent.send(b"\x16\x03\x01\x02\x00\x01\x00")
    server.expect("disconnect no HTTP/2 SETTINGS within 400 ms")
    silent.close()


def test_files_that_do_not_fit(pki):
    import programs
    for cert, key in (("server.pem", "ca.key"), ("none", "server.key"), ("server.pem", "none"), ("server.key", "server.key")):
        program = programs.Program("http2_echo_server", "--cert", pki / cert, "--key", pki / key)
        assert program.process.wait(20) == 1
        program.reader.join(5)
        assert program.lines[0].startswith("failed TLS: ")


def test_drain_in_mid_handshake(echo, pki):
    server = echo("--cert", pki / "server.pem", "--key", pki / "server.key")
    silent = socket.create_connection(("127.0.0.1", server.port))
    server.wait_idle((1, 0))
    server.tell("drain")
    server.expect("drained")
    silent.close()
