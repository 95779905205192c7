"""Relays that are services: what they are planned as, and the keys for them."""

import hashlib
import hmac
from pathlib import Path

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid import grid as grids
from isthmus.grid import services
from isthmus.place.placement import Part
from isthmus.place.plan import Plan, make_plan

CLUSTERS = '[cluster.a]\nhost = "a0"\n[cluster.b]\nhost = "b0"\n[cluster.c]\nhost = "c0"\n'
SERVICE = '[[relay]]\nservice = "{at}"\nkey = "~/{at}.key"\n'


def planned(text: str) -> Plan:
    return make_plan(grids.parse(CLUSTERS + text, "grid.toml"), [Part(["x"], 3)])


def by(plan: Plan) -> dict[tuple[str, str], list[str]]:
    return {
        (plan.gateway_name(link.source), plan.gateway_name(link.target)): services.of_link(link)
        for link in plan.links
    }


def test_all_clusters_are_linked_by_it():
    plan = planned(SERVICE.format(at="r"))
    at = ["r:7500"]
    assert by(plan) == {("a", "b"): at, ("a", "c"): at, ("b", "c"): at}
    assert plan.services == {"r:7500": "~/r.key"}
    assert len(plan.agents) == 3  # nothing is started on it


def test_some_meet_there_and_links_of_ones_own_go_first():
    plan = planned(
        SERVICE.format(at="r") + 'between = ["a", "b"]\n' + SERVICE.format(at="s:1")
        + '[[link]]\nbetween = ["b", "c"]\n'
    )  # fmt: skip
    assert by(plan) == {("a", "b"): ["r:7500", "s:1"], ("a", "c"): ["s:1"], ("b", "c"): []}


def test_beside_a_relay_of_the_run():
    plan = planned(SERVICE.format(at="r") + 'between = ["a", "b"]\n[[relay]]\nhost = "h"\n')
    assert by(plan)[("a", "b")] == ["r:7500"]
    assert by(plan)[("c", "relay")] == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[[relay]]\nservice = "r"\n', "grid.toml:7: relay[0].key is missing"),
        ('[[relay]]\nkey = "/k"\n', "relay[0].service is missing"),
        ('[[relay]]\nservice = "r"\nkey = "k"\n', "must be an absolute path"),
        ('[[relay]]\nservice = "r:1-2"\nkey = "/k"\n', "must be 'HOST' or 'HOST:PORT'"),
        ('[[relay]]\nservice = "10.0.0.0/8"\nkey = "/k"\n', "must be 'HOST' or 'HOST:PORT'"),
        (
            '[[relay]]\nservice = "r"\nkey = "/k"\nhost = "h"\n',
            "is for a relay that the run starts",
        ),
    ],
)
def test_what_is_wrong(text, what):
    with pytest.raises(UsageError) as error:
        planned(text)
    assert what in str(error.value)


def key(folder: Path, text: str, mode: int = 0o600) -> dict[str, str]:
    file = folder / "the.key"
    file.write_text(text)
    file.chmod(mode)
    return {"r:7500": str(file)}


def test_agents_are_given_what_is_of_the_job(tmp_path):
    keys = services.Keys(key(tmp_path, 'id = "alice-1"\nsecret = "00ff"\n'), "job-7")
    (told,) = keys.for_agent(["r:7500", "r:7500"])
    wanted = hmac.new(b"\x00\xff", b"isthmus/1 service job-7", hashlib.sha256).hexdigest()
    assert told == {"at": "r:7500", "name": "alice-1/job-7", "secret": wanted}


@pytest.mark.parametrize(
    ("text", "mode", "what"),
    [
        ('id = "a"\nsecret = "00"\n', 0o640, "others may read the key"),
        ('id = "a"\n', 0o600, "is not a key of a service"),
        ("\x00", 0o600, "is not a key of a service"),
        ('id = "a"\nsecret = 5\n', 0o600, "is not a key of a service"),
    ],
)
def test_keys_that_cannot_be_used(tmp_path, text, mode, what):
    with pytest.raises(UsageError, match=what):
        services.Keys(key(tmp_path, text, mode), "job")


def test_a_key_that_is_not_there():
    with pytest.raises(UsageError, match=r"isthmusd key add"):
        services.Keys({"r:7500": "/no/such/key"}, "job")
