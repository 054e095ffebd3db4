"""Who gets in, over what, and how connections end."""

from __future__ import annotations

import datetime as dt
import socket
import ssl
import struct
import time
from pathlib import Path

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from console.pgwire.authentication import is_loopback
from console.pgwire.messages import ProtocolViolation
from console.pgwire.server import Place
from console.pgwire.startup import options
from tests.console.pgwire.conftest import EMAIL, Listening, listening


def test_a_driver_learns_what_it_asks_for(server: Listening) -> None:
    with server.connect(application_name="tests", options="-c statement_timeout=5s") as client:
        said = {
            name: client.info.parameter_status(name)
            for name in (
                "server_version",
                "server_encoding",
                "client_encoding",
                "DateStyle",
                "TimeZone",
                "integer_datetimes",
                "standard_conforming_strings",
                "is_superuser",
                "session_authorization",
                "application_name",
            )
        }
        assert said == {
            "server_version": "15.0",
            "server_encoding": "UTF8",
            "client_encoding": "UTF8",
            "DateStyle": "ISO, MDY",
            "TimeZone": "UTC",
            "integer_datetimes": "on",
            "standard_conforming_strings": "on",
            "is_superuser": "on",
            "session_authorization": EMAIL,
            "application_name": "tests",
        }
        version = client.info.parameter_status("mz_version")
        assert version is not None
        assert version.startswith("v")
        assert client.execute("SHOW statement_timeout").fetchone() == ("5s",)


@pytest.mark.parametrize(
    "changes",
    [
        {"password": "wrong"},
        {"user": "bob@example.com"},
        {"user": "bob@example.com", "password": "wrong"},
    ],
)
def test_strangers_stay_outside(server: Listening, changes: dict[str, str]) -> None:
    with pytest.raises(psycopg.OperationalError) as refused:
        server.connect(**changes)
    user = changes.get("user", EMAIL)
    assert f'password authentication failed for user "{user}"' in str(refused.value)
    assert "app password" in str(refused.value)


def test_unknown_wishes_are_notices(server: Listening) -> None:
    wishes = "-c bogus=1 --transaction_isolation=strict\\ serializable"
    with server.connect(options=wishes, dbname="nowhere") as client:
        shown = client.execute("SHOW transaction_isolation").fetchone()
        assert shown == ("strict serializable",)
        assert client.execute("SHOW database").fetchone() == ("nowhere",)


def test_options_as_libpq_writes_them() -> None:
    line = r"-c a=1 --b-c=two\ words -cd=e\\f"
    assert options(line) == (("a", "1"), ("b_c", "two words"), ("d", r"e\f"))
    with pytest.raises(ProtocolViolation):
        options("-x")


def test_the_room_is_limited(server: Listening) -> None:
    connections = [server.connect() for _ in range(5)]
    with pytest.raises(psycopg.OperationalError, match="too many clients"):
        server.connect()
    connections.pop().close()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            connections.append(server.connect())
            break
        except psycopg.OperationalError:
            time.sleep(0.05)
    assert len(connections) == 5
    for connection in connections:
        connection.close()


def test_a_stopping_server_says_goodbye(password: str) -> None:
    with listening(Place("127.0.0.1", 0)) as port:
        client = Listening(port, password).connect()
        client.execute("SELECT 1")
        begun = time.monotonic()
    assert time.monotonic() - begun < 3
    with pytest.raises(psycopg.OperationalError, match="administrator command"):
        client.execute("SELECT 1")


@pytest.mark.parametrize(
    "packet",
    [
        struct.pack("!ii", 8, 2 << 16),
        struct.pack("!ii", 100_000, 3 << 16),
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("!ii", 8, 80877103) * 6,
    ],
)
def test_other_protocols_are_turned_away(server: Listening, packet: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 5) as plain:
        plain.sendall(packet)
        answer = b""
        while part := plain.recv(4096):
            answer += part
    assert answer.lstrip(b"N").startswith(b"E")
    assert b"FATAL" in answer


def test_later_minor_versions_are_talked_down(server: Listening) -> None:
    body = b"user\0ada@example.com\0_pq_.x\0y\0\0"
    packet = struct.pack("!ii", len(body) + 8, (3 << 16) + 2) + body
    with socket.create_connection(("127.0.0.1", server.port), 5) as plain:
        plain.sendall(packet)
        answer = plain.recv(4096)
    assert answer[:1] == b"v"
    assert b"_pq_.x\0" in answer


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 and its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "server.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


def test_tls(password: str, certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with listening(Place("127.0.0.1", 0, certificate=context)) as port:
        server = Listening(port, password)
        root = str(certificate)
        with server.connect(
            host="localhost", sslmode="verify-full", sslrootcert=root, gssencmode="disable"
        ) as client:
            assert client.pgconn.ssl_in_use
            assert client.execute("SELECT 1").fetchone() == (1,)
        with server.connect(sslmode="disable") as client:
            assert not client.pgconn.ssl_in_use
        with socket.create_connection(("127.0.0.1", port), 5) as plain:
            plain.sendall(struct.pack("!ii", 8, 80877103) + b"early")
            assert b"unencrypted data after SSL request" in plain.recv(4096)


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.7", False),
        ("", False),
    ],
)
def test_passwords_travel_in_the_clear_on_this_machine_only(address: str, *, here: bool) -> None:
    assert is_loopback(address) is here


def test_cancelling_nothing_is_fine(server: Listening) -> None:
    with server.connect() as client:
        client.cancel_safe()
        assert client.execute("SELECT 1").fetchone() == (1,)
