"""Ports whose firewall drops all that is sent to them, without a word."""

import json
import re
import sys

import pytest

LINK = re.compile(
    r'the link from the gateway of cluster "a" to the gateway of cluster "b" '
    r"\(tcp:10\.2\.255\.1:(\d+)\) could not be opened within 10 s: "
    r"cannot connect to tcp:10\.2\.255\.1:\1: .*does a firewall drop what is sent to this port\? "
    r"Open it there, or say by 'address' and 'port' in \[\[gateway\]\] how others reach it"
)


@pytest.fixture
def walled_in(standing):
    """The second cluster's firewall lets nothing in, and the first one's gateway dials it."""
    return standing("hablot", "--nodes", "1", "--set", "site.b.firewall=outgoing")


def isthmus(lab, *words):
    return lab.exec(sys.executable, "-m", "isthmus", *words)


def one_line(text: str) -> str:
    return " ".join(text.split())


def dropped(lab) -> int:
    state = json.loads(lab.labs("stats", "--json").stdout)["a-b"]
    return state["ab"]["counters"]["dropped_firewall"]


def test_run_names_the_link_the_port_and_the_remedy(walled_in):
    before = dropped(walled_in)
    done = isthmus(walled_in, "run", "--timeout", 200, "-n", 2, "true")
    assert done.returncode == 1
    assert LINK.search(one_line(done.stderr)), done.stderr
    assert dropped(walled_in) > before


def test_doctor_names_the_link_the_port_and_the_remedy(walled_in):
    done = isthmus(walled_in, "doctor")
    said = one_line(done.stdout)
    assert done.returncode == 1
    assert LINK.search(said), done.stdout + done.stderr
    assert re.search(
        r"fail port +a0 cannot reach it: cannot connect to 10\.2\.255\.1 port \d+", said
    )
    assert "Open the port in the firewall of the host that listens" in said
    assert "The other direction is open: put [cluster.b] before [cluster.a]" in said
