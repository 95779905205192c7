"""Grid files that take in others: names, links, and what is wrong with them."""

from pathlib import Path

import pytest

from isthmus.base.errors import UsageError
from isthmus.cli.cli import main
from isthmus.grid import grid as grids
from isthmus.grid import gridwriting
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.tune import store
from isthmus.tune.figures import Figures

LEIDEN = """
patience = "5 min"
files = "lgm"
[cluster.das]
slots = 4
hosts = "n[1-4],z1"
[cluster.lgm]
slots = 2
hosts = "g1,z1"
[network.blue]
hosts = "n1,z1"
[network.green]
hosts = "g1,z1"
[[gateway]]
cluster = "lgm"
port = "7400"
"""
WHOLE = """
[grid.leiden]
file = "sites/leiden.toml"
[cluster.lyon]
slots = 8
[[link]]
between = ["leiden.das", "lyon"]
rtt = "20 ms"
"""


def written(folder: Path, files: dict[str, str]) -> Path:
    """The first of them."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / next(iter(files))


def load(folder: Path, **files: str) -> grids.Grid:
    return grids.load(written(folder, {f"{name}.toml": text for name, text in files.items()}))


def linked(grid: grids.Grid) -> set[tuple[str, ...]]:
    return {tuple(sorted(link.between)) for link in grid.link}


def wrong(folder: Path, **files: str) -> str:
    with pytest.raises(UsageError) as error:
        load(folder, **files)
    return str(error.value)


def test_clusters_of_an_inner_grid_have_its_name_before_theirs(tmp_path: Path):
    grid = grids.load(written(tmp_path, {"whole.toml": WHOLE, "sites/leiden.toml": LEIDEN}))
    assert list(grid.cluster) == ["lyon", "leiden.das", "leiden.lgm"]
    assert grid.cluster["leiden.das"].slots == 4
    assert list(grid.network) == ["leiden.blue", "leiden.green"]
    assert [gateway.serves for gateway in grid.gateway] == [["leiden.lgm"]]
    assert linked(grid) == {("leiden.das", "leiden.lgm"), ("leiden.das", "lyon")}


def test_what_is_of_a_whole_run_is_of_the_outer_file(tmp_path: Path):
    grid = grids.load(written(tmp_path, {"whole.toml": WHOLE, "sites/leiden.toml": LEIDEN}))
    assert (str(grid.patience), grid.files) == ("10 min", None)
    patience = {tuple(link.between): str(link.patience) for link in grid.link}
    assert patience == {("leiden.das", "leiden.lgm"): "5 min", ("leiden.das", "lyon"): "None"}


def test_a_rank_far_off_is_reached_by_way_of_the_inner_grid(tmp_path: Path):
    leiden = "[cluster.das]\nslots = 4\n[cluster.lgm]\nslots = 2\n"
    grid = grids.load(written(tmp_path, {"whole.toml": WHOLE, "sites/leiden.toml": leiden}))
    plan = make_plan(grid, [Part(["x"], 2, on=name) for name in ("leiden.lgm", "lyon")])
    assert [cluster.name for cluster in plan.forwarding] == ["leiden.das"]


def test_grids_of_grids_of_grids(tmp_path: Path):
    two = "[cluster.east]\n[cluster.west]\n"
    grid = load(
        tmp_path,
        world="[grid.nl]\nfile = 'nl.toml'\n[grid.fr]\nfile = 'two.toml'\n"
        "[[link]]\nbetween = ['nl.leiden.east', 'fr.west']\n",
        nl="[grid.leiden]\nfile = 'two.toml'\n[grid.delft]\nfile = 'two.toml'\n"
        "[[link]]\nbetween = ['leiden.east', 'delft.east']\n",
        two=two,
    )
    assert sorted(grid.cluster) == [
        *("fr.east", "fr.west", "nl.delft.east", "nl.delft.west"),
        *("nl.leiden.east", "nl.leiden.west"),
    ]
    assert linked(grid) == {
        ("fr.east", "fr.west"),
        ("nl.leiden.east", "nl.leiden.west"),
        ("nl.delft.east", "nl.delft.west"),
        ("nl.delft.east", "nl.leiden.east"),
        ("fr.west", "nl.leiden.east"),
    }


def test_without_links_each_pair_of_different_grids_is_linked(tmp_path: Path):
    inner = "[cluster.b]\n[cluster.c]\n[cluster.d]\n[[link]]\nbetween = ['b', 'c']\n"
    grid = load(tmp_path, whole="[cluster.a]\n[grid.g]\nfile = 'g.toml'\n", g=inner)
    assert linked(grid) == {("g.b", "g.c"), ("a", "g.b"), ("a", "g.c"), ("a", "g.d")}


def test_relays_join_the_clusters_of_their_own_file(tmp_path: Path):
    whole = "[cluster.a]\n[grid.g]\nfile = 'g.toml'\n[[relay]]\nhost = 'out'\n"
    inner = "[cluster.b]\n[cluster.c]\n[[relay]]\nhost = 'in'\n"
    grid = load(tmp_path, whole=whole, g=inner)
    assert [(relay.host, relay.between) for relay in grid.relay] == [
        ("in", ["g.b", "g.c"]),
        ("out", []),
    ]
    plan = make_plan(grid, [Part(["x"], 1, on=name) for name in grid.cluster])
    ends = {(plan.places[a].name, plan.places[b].name) for a, b in routes_of(plan)}
    assert ends == {
        *(("g.b", "relay1"), ("g.c", "relay1")),
        *(("a", "relay2"), ("g.b", "relay2"), ("g.c", "relay2")),
    }


def routes_of(plan) -> list[tuple[int, int]]:
    at = {gateway.node: gateway.clusters[0] for gateway in plan.gateways}
    return [(at[link.source], at[link.target]) for link in plan.links]


def test_what_is_read_can_be_written_as_one_file(tmp_path: Path):
    grid = grids.load(written(tmp_path, {"whole.toml": WHOLE, "sites/leiden.toml": LEIDEN}))
    again = grids.parse(gridwriting.write(grid), "flat.toml")
    keys = [{name: spec.model_dump() for name, spec in g.cluster.items()} for g in (grid, again)]
    assert keys[0] == keys[1]
    assert linked(again) == linked(grid)
    assert not any(spec.grids for spec in again.cluster.values())  # one file, no grid within


@pytest.mark.parametrize(
    ("whole", "words"),
    [
        ("[grid.g]\n", ["whole.toml:1: grid.g.file is missing"]),
        (
            "[grid.g]\nfile = 'no.toml'\n",
            ["whole.toml:2: grid.g.file", "does not exist", "no.toml"],
        ),
        ("[grid.g]\nfiel = 'g.toml'\n", ["grid.g.fiel is not a key", "did you mean 'file'?"]),
        ("[grid.'a b']\nfile = 'g.toml'\n", ["grid.a b is not a valid name"]),
        ("[cluster.g]\n[grid.g]\nfile = 'g.toml'\n", [":2: grid.g is also the name of a cluster"]),
        (
            "[cluster.'g.b']\n[grid.g]\nfile = 'g.toml'\n",
            [":2: grid.g includes a cluster 'g.b'", "rename one of them"],
        ),
        (
            "[grid.'g.h']\nfile = 'g.toml'\n[grid.g]\nfile = 'h.toml'\n",
            [":3: grid.g includes a cluster 'g.h.b'"],
        ),
        (f"[grid.{'g' * 63}]\nfile = 'g.toml'\n", ["not a valid name", "at most 64 characters"]),
        (
            "[cluster.a]\n[grid.g]\nfile = 'g.toml'\n[[link]]\nbetween = ['a', 'g']\n",
            [":5: link[0].between names the grid 'g'", "its clusters: 'a', 'g.b', 'g.c'"],
        ),
        (
            "[cluster.a]\n[grid.g]\nfile = 'g.toml'\n[[link]]\nbetween = ['a', 'b']\n",
            [":5: link[0].between names a cluster 'b'", "its clusters: 'a', 'g.b'"],
        ),
        (
            "[grid.g]\nfile = 'g.toml'\n[[link]]\nbetween = ['g.c', 'g.b']\nname = 'wide'\n",
            [":5: link[0].name is also the name of another link between the same clusters"],
        ),
        (
            "[cluster.relay]\n[grid.r]\nfile = 'r.toml'\n",
            [":1: cluster.relay is also the name of a relay of an inner grid"],
        ),
        ("[grid.g]\nfile = 'bad.toml'\n", ["bad.toml:2: cluster.b.slots must be at least 1"]),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, whole: str, words: list[str]):
    told = wrong(
        tmp_path,
        whole=whole,
        g="[cluster.b]\n[cluster.c]\n[[link]]\nbetween = ['b', 'c']\nname = 'wide'\n",
        h="[cluster.'h.b']\n",
        r="[cluster.b]\n[[relay]]\nhost = 'x'\n",
        bad="[cluster.b]\nslots = 0\n",
    )
    for word in words:
        assert word in told


def test_a_grid_cannot_hold_itself(tmp_path: Path):
    itself = wrong(tmp_path, a="[cluster.x]\n[grid.a]\nfile = 'a.toml'\n")
    assert "a.toml:3: grid.a.file is a file that includes this one" in itself
    ring = wrong(
        tmp_path,
        a="[grid.b]\nfile = 'b.toml'\n",
        b="[cluster.y]\n[grid.c]\nfile = 'c.toml'\n",
        c="[grid.b]\nfile = './b.toml'\n",
    )
    assert "c.toml:2: grid.b.file" in ring
    assert ring.count("b.toml") == 2


def test_what_was_measured_is_of_all_files(tmp_path: Path):
    path = written(tmp_path, {"whole.toml": WHOLE, "sites/leiden.toml": LEIDEN})
    store.write(path, Figures(clusters=[], pairs=[]), "today")
    assert not store.read(path).trouble
    inner = tmp_path / "sites/leiden.toml"
    inner.write_text(LEIDEN.replace("slots = 4", "slots = 5"))
    assert "has changed since" in store.read(path).trouble


def test_the_commands_show_it(tmp_path: Path, capsys):
    path = written(tmp_path, {"whole.toml": WHOLE, "sites/leiden.toml": LEIDEN})
    assert main(["grid", "-g", str(path)]) == 0
    told = capsys.readouterr().out
    assert "cluster leiden.das: this host, 4 slots\n" in told
    assert "link lyon -> leiden.das\n" in told
    assert main(["run", "-g", str(path), "--dry-run", "-n", "14", "true"]) == 0
    told = capsys.readouterr().out
    assert "14 ranks on 3 clusters" in told
    assert "cluster leiden.lgm: ranks 12-13" in told


def test_channels_of_an_inner_grid_have_its_name_before_theirs(tmp_path: Path):
    inner = "[cluster.b]\n[cluster.c]\n[channel.x]\nclusters = ['b']\n"
    whole = "[cluster.a]\n[grid.g]\nfile = 'g.toml'\n[channel.y]\nclusters = ['a', 'g.c']\n"
    grid = load(tmp_path, whole=whole, g=inner)
    assert {name: spec.clusters for name, spec in grid.channel.items()} == {
        "y": ["a", "g.c"],
        "g.x": ["g.b"],
    }
    again = grids.parse(gridwriting.write(grid), "again.toml")
    assert again.channel == grid.channel
    said = wrong(tmp_path, whole=whole.replace("channel.y", "channel.'g.x'"), g=inner)
    assert "includes a channel 'g.x', but another has that name" in said
