"""`isthmus map`: what is cut, what is written (what is read: mapping_traffic_test.py)."""

import random
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from isthmus.base.errors import UsageError
from isthmus.cli.cli import main
from isthmus.grid import grid as grids
from isthmus.mapping import assign as assigning
from isthmus.mapping import sizes, wires
from isthmus.mapping.assign import assign
from isthmus.mapping.commands import Mapped
from isthmus.mapping.refine import Assignment
from isthmus.mapping.traffic import Traffic, Volume
from isthmus.place import rankmap
from isthmus.tune import store
from isthmus.tune.figures import ClusterFigures, Figures, PairFigures

ONE = Volume(1, 1000)


def ring(size):
    return {(min(a, b), max(a, b)): ONE for a in range(size) for b in [(a + 1) % size]}


def mesh(rows, columns):
    pairs = {}
    for row in range(rows):
        for column in range(columns):
            at = row * columns + column
            if column + 1 < columns:
                pairs[at, at + 1] = ONE
            if row + 1 < rows:
                pairs[at, at + columns] = ONE
    return pairs


def cliques(size, many):
    """Ranks that are alike modulo `many`."""
    return {(a, b): ONE for a in range(size) for b in range(a + many, size, many)}


def renamed(pairs, size, seed=1):
    names = list(range(size))
    random.Random(seed).shuffle(names)
    return {
        (min(names[a], names[b]), max(names[a], names[b])): volume
        for (a, b), volume in pairs.items()
    }


def cut(pairs, part):
    return sum(part[a] != part[b] for a, b in pairs)


def halves(size, parts=2):
    return [rank * parts // size for rank in range(size)]


@pytest.fixture(params=["with METIS", "without METIS"])
def metis(request, monkeypatch):
    if request.param == "with METIS":
        pytest.importorskip("pymetis")
    else:
        monkeypatch.setattr(assigning, "pymetis", None)
    return request.param


@pytest.mark.parametrize(
    ("pairs", "size", "parts", "least"),
    [
        (ring(16), 16, 2, 2),
        (ring(15), 15, 3, 3),
        (mesh(4, 8), 32, 2, 4),
        (mesh(8, 4), 32, 2, 4),
        (cliques(16, 2), 16, 2, 0),
        (cliques(24, 3), 24, 3, 0),
    ],
)
def test_known_graphs_are_cut_at_best(metis, pairs, size, parts, least):
    shuffled = renamed(pairs, size)
    given = halves(size, parts)
    found = assign(shuffled, given, [size // parts] * parts, wires.alike(parts))
    assert cut(shuffled, found) == least
    assert sorted(found) == given


def test_where_metis_gives_up_other_orders_have_to_do(monkeypatch):
    def gives_up(*_, **__):
        raise RuntimeError("Caught an unknown exception!")

    fake = SimpleNamespace(CSRAdjacency=lambda *_: None, Options=dict, part_graph=gives_up)
    monkeypatch.setattr(assigning, "pymetis", fake)
    pairs = renamed(cliques(16, 2), 16)
    assert cut(pairs, assign(pairs, halves(16, 2), [8, 8], wires.alike(2))) == 0


def test_larger_meshes():
    pytest.importorskip("pymetis")
    pairs = renamed(mesh(16, 32), 512)
    found = assign(pairs, halves(512), [256, 256], wires.alike(2))
    assert cut(pairs, found) <= 1.1 * 16


@pytest.mark.parametrize("seed", range(20))
def test_nothing_gets_worse(metis, seed):
    chance = random.Random(seed)
    size = chance.randint(2, 24)
    pairs = {
        (a, b): Volume(chance.randint(0, 9), chance.randint(0, 10**6))
        for a in range(size)
        for b in range(a + 1, size)
        if chance.random() < 0.3
    }
    given = sorted(chance.randrange(3) for _ in range(size))
    between = wires.Wires(
        [[0, 1e-3, 5e-3], [1e-3, 0, 2e-2], [5e-3, 2e-2, 0]],
        [[0, 1e-9, 1e-8], [1e-9, 0, 1e-8], [1e-8, 1e-8, 0]],
    )
    capacity = [given.count(cluster) for cluster in range(3)]
    found = assign(pairs, given, capacity, between)
    before, after = (Assignment(part, pairs, between).cost for part in (given, found))
    assert after <= before
    assert [found.count(cluster) for cluster in range(3)] == capacity


def test_costs_are_kept_while_ranks_are_exchanged():
    """The gain of a pass is the loss of the cost."""
    pairs = renamed(mesh(5, 6), 30)
    between = wires.Wires(
        [[0, 1, 5], [1, 0, 2], [5, 2, 0]], [[0, 1e-3, 0], [1e-3, 0, 1e-2], [0, 1e-2, 0]]
    )
    tried = Assignment([rank % 3 for rank in range(30)], pairs, between)
    for pair in [(0, 1), (1, 2), (0, 2), (0, 1)]:
        before = tried.cost
        gained = tried._pass(pair)
        assert before - gained == pytest.approx(tried.cost)


def test_the_dearer_link_is_spared():
    # A chain of three groups: the middle one belongs between the two that are near.
    groups = [{(a, b): ONE for a in g for b in g if a < b} for g in ([0, 3], [1, 4], [2, 5])]
    pairs = {k: Volume(100, 0) for group in groups for k in group}
    pairs |= {(0, 1): ONE, (1, 2): ONE}
    between = wires.Wires([[0, 9, 1], [9, 0, 1], [1, 1, 0]], [[0] * 3] * 3)
    found = assign(pairs, [0, 0, 1, 1, 2, 2], [2, 2, 2], between)
    assert found[1] == found[4] == 2


def test_free_slots_are_used():
    pairs = cliques(12, 2) | {(0, 1): ONE}
    found = assign(pairs, [0] * 8 + [1] * 4, [8, 8], wires.alike(2))
    assert cut(pairs, found) == 1


GRID = """
[cluster.a]
slots = {0}
[cluster.b]
slots = {1}
[[link]]
between = ["a", "b"]
rtt = "20 ms"
rate = "8 Gbit/s"
"""


def parsed(text):
    return grids.parse(text, "grid.toml")


def test_links_cost_what_the_grid_file_says():
    between = wires.of_grid(parsed(GRID.format(2, 2)))
    assert between.seconds(Volume(3, 10**9), 0, 1) == pytest.approx(3 * 0.01 + 1)
    assert between.seconds(Volume(3, 10**9), 1, 1) == 0


def test_clusters_without_a_link_reach_each_other_by_others():
    text = "".join(f"[cluster.{name}]\n" for name in "abc")
    text += '[[link]]\nbetween = ["a", "b"]\nrtt = "20 ms"\nrate = "1 Gbit/s"\n'
    text += '[[link]]\nbetween = ["b", "c"]\nrtt = "2 ms"\nrate = "8 Gbit/s"\n'
    between = wires.of_grid(parsed(text))
    assert between.message[0][2] == pytest.approx(0.011)
    assert between.byte[2][0] == pytest.approx(8e-9)


def measured(latency, rate):
    pair = PairFigures(between=("b", "a"), latency=latency, rate=rate, senders=2)
    clusters = [ClusterFigures(name=n, ranks=2, latency=0, rate=0, message=0) for n in "ab"]
    return Figures(clusters=clusters, pairs=[pair])


def test_what_was_measured_goes_before_what_the_grid_file_says(tmp_path: Path, capsys):
    grid, table = tmp_path / "grid.toml", tmp_path / "pairs.csv"
    grid.write_text(GRID.format(2, 2))
    table.write_text("from,to,messages,bytes\n0,1,1,0\n2,3,1,0\n1,2,10,1000000000\n")

    def seconds() -> str:
        assert main(["map", "-g", str(grid), str(table)]) == 0
        return re.findall(r"(\S+) s$", capsys.readouterr().out, re.MULTILINE)[0]

    assert seconds() == "1.1"  # ten messages of 10 ms, a gigabyte
    store.write(grid, measured(0.1, 0.5e9), "today")
    assert seconds() == "3"
    store.write(grid, measured(0.1, 0.5e9), "today", without=["wan-rate"])  # it was in doubt
    assert seconds() == "2"
    grid.write_text(GRID.format(2, 3))
    assert main(["map", "-g", str(grid), str(table)]) == 0
    assert "has changed since isthmus tune" in capsys.readouterr().err


def test_fast_clusters_are_filled_first():
    text = GRID.format(4, 4).replace("[cluster.b]", "[cluster.b]\nspeed = 1.5")
    assert sizes.given(parsed(text), 6) == [1, 1, 1, 1, 0, 0]


def test_without_slots_clusters_have_shares_by_speed():
    text = "[cluster.a]\nspeed = 3\n[cluster.b]\nspeed = 1"
    assert sizes.given(parsed(text), 8) == [0] * 6 + [1] * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GRID.format(2, 2), "the grid has 4 slots for 8 ranks"),
        ("[cluster.a]\nslots = 8\n[cluster.b]", "'b' have none, so 8 ranks cannot be placed"),
    ],
)
def test_a_grid_without_room_is_said_in_words_of_the_map(text, said):
    with pytest.raises(UsageError) as error:
        sizes.given(parsed(text), 8)
    assert said in str(error.value)
    assert "-n" not in str(error.value)


def test_speed_goes_before_what_crosses():
    text = "[cluster.a]\nspeed = 3\n[cluster.b]\nspeed = 1"
    found = Mapped.of(Traffic(8, cliques(8, 2)), parsed(text), None).after
    assert [found.count(cluster) for cluster in (0, 1)] == [6, 2]


def test_ranks_that_need_a_tag_go_where_it_is():
    grid = parsed(GRID.format(4, 4).replace("[cluster.b]", '[cluster.b]\ntags = ["gpu"]'))
    allowed = [frozenset({0, 1})] * 8
    for rank in (0, 1, 7):
        allowed[rank] = frozenset({1})
    after = Mapped.of(Traffic(8, ring(8)), grid, allowed).after
    assert [after[rank] for rank in (0, 1, 7)] == [1, 1, 1]
    assert after.count(1) == 4


def test_too_many_need_a_tag():
    grid = parsed(GRID.format(4, 4).replace("[cluster.b]", '[cluster.b]\ntags = ["gpu"]'))
    with pytest.raises(UsageError, match="do not fit into the clusters that they may use"):
        Mapped.of(Traffic(8, ring(8)), grid, [frozenset({1})] * 5 + [frozenset({0, 1})] * 3)


# -- the command -----------------------------------------------------------------------------


def run(capsys, *words):
    status = main(["map", *map(str, words)])
    return status, *capsys.readouterr()


def test_the_command_writes_a_map_that_run_reads(tmp_path, capsys):
    source, grid, out = tmp_path / "ring.csv", tmp_path / "grid.toml", tmp_path / "ring.map"
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    rows = [f"{a},{b},100,1000000" for a, b in zip(order, [*order[1:], 0], strict=True)]
    source.write_text("\n".join(["from,to,messages,bytes", *rows]))
    grid.write_text(GRID.format(4, 4))
    assert run(capsys, "-g", grid, source, "-o", out)[0] == 0
    assert "# before       400   4 MB   4 s" in out.read_text()
    assert "# after        200   2 MB   2 s" in out.read_text()
    found = rankmap.load(out)
    part = [found.clusters[rank] for rank in order]
    assert sum(a != b for a, b in zip(part, [*part[1:], part[0]], strict=True)) == 2
    status, said, _ = run(capsys, "-g", grid, source)
    assert status == 0
    assert rankmap.parse(said, "said").clusters == found.clusters


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--need", "gpu"], "it is not a tag with ranks"),
        (["--need", "gpu=0"], "no cluster has the tag 'gpu'"),
        (["--need", "big=0-x"], "'0-x' is not a list of ranks"),
        (["--need", "big=5"], "has rank 5, but there are only 2"),
        (["-o", "/nowhere/map"], "cannot write /nowhere/map"),
    ],
)
def test_what_the_command_refuses(tmp_path, capsys, words, message):
    source, grid = tmp_path / "p.csv", tmp_path / "grid.toml"
    source.write_text("from,to\n0,1\n")
    grid.write_text(GRID.format(1, 1).replace("[cluster.b]", '[cluster.b]\ntags = ["big"]'))
    status, _, said = run(capsys, "-g", grid, source, *words)
    assert status != 0
    assert message in said


def test_more_ranks_than_slots(tmp_path, capsys):
    source, grid = tmp_path / "p.csv", tmp_path / "grid.toml"
    source.write_text("from,to\n0,5\n")
    for text in (GRID.format(1, 1), GRID.format(1, 1).replace("slots", "speed = 2\nslots", 1)):
        grid.write_text(text)
        status, _, said = run(capsys, "-g", grid, source)
        assert status != 0
        assert "2 slots" in said
