"""The behaviour of a lab's wires, seen by real TCP. No test depends on the machine being quick."""

import json

import pytest

# connect(source, target) -> seconds, or null when no connection was opened within the limit
CONNECT = """
import json, socket, sys, time
from isthmus_lab.lab import kernel, measure, registry
from isthmus_lab.lab.links import model_of
lab = registry.find(None); network = model_of(lab)
source, target, limit = sys.argv[1], sys.argv[2], float(sys.argv[3])
with measure.answering(network, lab):
    node = network.nodes[source]
    address = network.address_of(network.nodes[target], node)
    rtt, name = measure._connect(lab, node, address, limit)
print(json.dumps(rtt if name == target else None))
"""


@pytest.fixture
def hablot(standing):
    lab = standing("hablot", "--nodes", "1")
    yield lab
    lab.ask("set", "all", "delay=5.8ms", "rate=1 Gbit/s", "loss=0", "jitter=0ms")
    lab.ask("restore", "all")


def dropped(lab):
    state = json.loads(lab.labs("stats", "--json").stdout)["a-b"]
    return {way: state[way]["counters"]["dropped_cut"] for way in ("ab", "ba")}


def test_the_delay_is_never_shorter(hablot):
    assert hablot.python(CONNECT, "a1", "b1", 10) >= 0.0116
    assert hablot.python(CONNECT, "a0", "a1", 10) is not None


def test_a_cut_and_a_restored_link(hablot):
    assert hablot.ask("cut", "a-b").returncode == 0
    assert hablot.python(CONNECT, "a1", "b1", 1) is None
    assert hablot.python(CONNECT, "a1", "a0", 10) is not None
    assert hablot.ask("restore", "a-b").returncode == 0
    assert hablot.python(CONNECT, "a1", "b1", 10) is not None


def test_one_direction_is_cut(hablot):
    before = dropped(hablot)
    assert hablot.ask("cut", "b>a").returncode == 0
    assert hablot.python(CONNECT, "a1", "b1", 1) is None
    after = dropped(hablot)
    assert after["ab"] == before["ab"]
    assert after["ba"] > before["ba"]


def test_settings_change_while_it_runs(hablot):
    done = hablot.ask("set", "a-b", "delay=100ms", "loss=0.5%", "queue=1 MB", "jitter=1 ms")
    assert done.returncode == 0, done.stderr
    assert hablot.python(CONNECT, "a1", "b1", 30) >= 0.2
    state = json.loads(hablot.labs("stats", "--json").stdout)["a-b"]["ba"]["settings"]
    assert (state["loss"], state["queue"], state["jitter"]) == (0.005, 1_000_000, 0.001)
    assert state["rate"] == 1e9


def test_traffic_is_told_by_milliseconds(hablot):
    assert hablot.python(CONNECT, "a1", "b1", 10) is not None
    header, *rows = hablot.labs("traffic", "a>b").stdout.splitlines()
    assert header == "way,milliseconds,bytes,dropped"
    cells = [row.split(",") for row in rows]
    assert {cell[0] for cell in cells} == {"a>b"}
    times = [int(cell[1]) for cell in cells]
    assert times == sorted(set(times))
    sent = json.loads(hablot.labs("stats", "--json").stdout)["a-b"]["ab"]["counters"]["bytes"]
    assert 3 * 40 < sum(int(cell[2]) for cell in cells) <= sent
    assert "b>a" in hablot.labs("traffic").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a-c", "delay=1ms"), "unknown WAN link 'a-c'"),
        (("a-b", "delay=1"), "delay must be a time"),
        (("a-b", "dealy=1ms"), "did you mean 'delay'?"),
        (("a-b", "loss=x"), "loss has a wrong value"),
        (("a-b", "loss=2"), "loss must be a probability"),
        (("a-b", "reorder=maybe"), "reorder must be yes or no"),
    ],
)
def test_wrong_settings(hablot, words, said):
    done = hablot.ask("set", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_exec_and_shell_join_a_lab_that_runs(hablot):
    assert hablot.ask("exec", "--on", "b1", "--", "hostname").stdout == "b1\n"
    assert hablot.ask("shell", "--on", "a1", SHELL="/bin/hostname").stdout == "a1\n"
    assert hablot.ask("exec", "--", "sh", "-c", "exit 9").returncode == 9
