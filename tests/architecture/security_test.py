"""docs/security.md: the tests that it names are there, and it names all that listens."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/security.md").read_text()
NAMED = sorted(set(re.findall(r"`((?:src|tests)/[\w/]+_test\.(?:py|cpp))::([\w.]+)`", TEXT)))
LISTENS = re.compile(
    r"acceptor(?:\.|->)listen\(|\|\| listen\(|start_server\(|start_unix_server\(|create_server\(|"
    r"listener\.listen\(\d|doorway\.listen\(listening|"
    # Other programs that are started to listen.
    r'def listening\(end|"iperf3", "-s|"slurmctld", "-D|"-R", f"127'
)


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[f"{f}::{n}" for f, n in NAMED])
def test_what_holds_a_claim_is_there(file, name):
    text = (ROOT / file).read_text()
    if file.endswith(".py"):
        assert re.search(rf"^ *(?:async )?def {name}\(", text, re.MULTILINE)
    else:
        suite, test = name.split(".")
        assert re.search(rf"TEST(?:_F|_P)?\({suite}, {test}\)", text)


def test_claims_name_their_tests():
    """Also those that follow the first of an attacker."""
    assert len(NAMED) > 25
    table = TEXT.split("## What attackers can do")[1].split("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("|")][2:]
    for row in rows:
        assert bool(row[2].strip()) == bool(row[3].strip()), row


def listening() -> set[str]:
    files = [p for folder in ("src", "python", "bench", "lab") for p in (ROOT / folder).rglob("*")]
    return {
        str(p.relative_to(ROOT))
        for p in files
        if p.suffix in (".cpp", ".py") and "_test." not in p.name and LISTENS.search(p.read_text())
    }


def test_all_doors_are_told():
    doors = TEXT.split("## Doors")[1]
    told = set(re.findall(r"`((?:src|python|bench|lab)/[\w/]+\.(?:cpp|py))`", doors))
    assert listening() == told
