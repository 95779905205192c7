"""HOST:PORT in all its forms, and sockets for both kinds of IP."""

import socket

import pytest

from isthmus.base import hostport
from isthmus.grid.gridkeys import _address

FORMS = [
    ("host", ("host", None)),
    ("host:80", ("host", "80")),
    ("host:", ("host", "")),
    (":80", ("", "80")),
    ("::1", ("::1", None)),
    ("[::1]", ("::1", None)),
    ("[::1]:80", ("::1", "80")),
    ("[fe80::1%eth0]:80", ("fe80::1%eth0", "80")),
    ("fe80::1%eth0", ("fe80::1%eth0", None)),
    ("[::1]80", ("", "[::1]80")),
    ("[::1", ("", "[::1")),
]


@pytest.mark.parametrize(("text", "parts"), FORMS)
def test_the_parts(text, parts):
    assert hostport.split(text) == parts


@pytest.mark.parametrize("text", ["host:80", "[::1]:80", "[fe80::1%eth0]:80"])
def test_together_again(text):
    assert hostport.join(*hostport.split(text)) == text


def test_a_zone_in_a_grid_file():
    assert _address("[fe80::1%eth0]:7400") == "tcp:[fe80::1%eth0]:7400"
    with pytest.raises(ValueError, match="must be 'HOST'"):
        _address("[fe80::1%]:7400")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_one_socket_for_both(host):
    with hostport.listening(0) as listening:
        port = listening.getsockname()[1]
        with socket.create_connection((host, port), timeout=60):
            connection, peer = listening.accept()
            connection.close()
    assert hostport.shown(peer[0]) == host
