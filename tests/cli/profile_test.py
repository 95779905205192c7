"""The products of a profile: the file, its tables, its picture."""

import json

import pytest
from profiles import BYTES, MESSAGES, of_a_ring, of_rank, ring, tell, written

from isthmus.base.errors import UsageError
from isthmus.cli import cli
from isthmus.grid.grid import two_halves
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.profile import model, sizes, summary
from isthmus.profile.told import Told
from isthmus.profile.writing import ProfileFile
from isthmus.run.stats import Stats


@pytest.fixture
def profile(tmp_path) -> model.Profile:
    return of_a_ring(tmp_path)


def test_what_ranks_tell_becomes_one_file(profile) -> None:
    assert (profile.size, profile.missing, profile.status) == (4, [], 0)
    assert profile.program == [["app", "-v"]]
    assert [pair[:4] for pair in profile.pairs] == [
        (0, 1, MESSAGES, BYTES),
        (1, 2, MESSAGES, BYTES),
        (2, 3, MESSAGES, BYTES),
        (3, 0, MESSAGES, BYTES),
    ]
    (call,) = profile.collectives
    assert (call.entered, call.bytes, call.sizes, call.communicator) == (200, 1600, {3: 200}, 0)
    (members,) = profile.communicators
    assert (members.members(), members.clusters) == ([0, 1, 2, 3], 2)
    (link,) = profile.grid.links
    assert (link.between, link.rtt, link.rate) == ((0, 1), 0.02, 125e6)


def test_who_has_not_told_is_missing(tmp_path) -> None:
    found = written(tmp_path, ring()[:3])
    assert found.missing == [3]
    assert found.lacks() == "rank 3 has not reported"
    assert [rank.rank for rank in found.ranks] == [0, 1, 2]
    assert found.cluster_of() == {0: 0, 1: 0, 2: 1, 3: 1}


def test_of_a_profile_that_is_not_whole_nothing_is_concluded(tmp_path, capsys) -> None:
    written(tmp_path, ring()[1:2])
    assert show(tmp_path, "--link", "rtt=20ms") == 0
    text = capsys.readouterr().out
    for words in (
        "Incomplete: ranks 0, 2-3 have not reported",
        "east: 2 ranks",
        "MPI_Allreduce of 4 ranks, 2 clusters: 50 times",
        "east -> west",
        "is unknown, because the profile is incomplete",
    ):
        assert words in text
    assert "nothing crosses" not in text
    assert show(tmp_path, "--json") == 0
    sums = json.loads(capsys.readouterr().out)
    assert (sums["missing"], sums["prediction"]) == ([0, 2, 3], None)


def test_where_no_rank_has_told_the_file_stays(tmp_path) -> None:
    of_a_ring(tmp_path)
    before = (tmp_path / "app.json").read_text()
    plan = make_plan(two_halves(), [Part(["app"], 4)], outward=True)
    said = []
    ProfileFile(tmp_path / "app.json", [], []).write(plan, Stats(), Told(), 1, said.append)
    assert "no rank has reported its profile" in said[0]
    assert (tmp_path / "app.json").read_text() == before


def test_processes_tell_of_the_ranks_that_a_map_gives_them() -> None:
    told = Told([0, 2, 1, 3])
    for node, rank in enumerate([*told.world, 4]):  # the last one was spawned
        told.hear(node, {"text": json.dumps(of_rank(rank, "east", 0)), "last": True})
    assert sorted(told.ranks) == [0, 1, 2, 3, 4]
    told.hear(1, {"text": json.dumps(of_rank(1, "west", 0)), "last": True})  # which it is not
    assert told.ranks[1].cluster == "east"


def test_nonsense_of_a_rank_is_no_profile() -> None:
    told = Told()
    assert told.hear(0, {"text": "{", "last": True}) == {}
    assert told.hear(1, {"text": 7, "last": True}) == {}
    tell(told, of_rank(2, "east", 0, pairs=[[0, -1, 0, {}]]))
    assert told.ranks == {}


def test_a_rank_that_never_ends_is_refused() -> None:
    told = Told()
    answers = [told.hear(0, {"text": "x" * (40 << 20)}) for _ in range(2)]
    assert "error" in answers[1]


def test_receivers_beyond_the_bounds_are_lost(tmp_path) -> None:
    ranks = ring()
    ranks[0]["pairs"].append([-1, 7, 70, {"3": 7}])
    found = written(tmp_path, ranks)
    assert [rank.lost for rank in found.ranks] == [7, 0, 0, 0]
    assert summary.of_rows(found.pairs).messages == 4 * MESSAGES + 7


def test_collectives_on_different_communicators_stay_apart(tmp_path) -> None:
    ranks = ring()
    for rank, other in ((0, 2), (1, 3)):
        for member in (rank, other):
            mine = ranks[member]
            mine["communicators"] = [{"size": 2, "ranks": [[rank, other, 2]]}]
    found = written(tmp_path, ranks)
    assert [each.ranks for each in found.communicators] == [[(0, 2, 2)], [(1, 3, 2)]]
    assert [call.entered for call in found.collectives] == [100, 100]
    (total,) = summary.collectives(found)
    assert (total.size, total.clusters, total.operations) == (2, 2, 100)


def test_what_crosses(profile) -> None:
    parts = summary.by_clusters(profile, profile.pairs)
    assert {ends: part.messages for ends, part in parts.items()} == dict.fromkeys(
        [(0, 0), (0, 1), (1, 1), (1, 0)], MESSAGES
    )
    assert summary.crossing(profile, profile.pairs).bytes == 2 * BYTES


@pytest.mark.parametrize(
    ("text", "sizes_"),
    [
        ("10 x 0 B", {-1: 10}),
        ("3 x 1 B + 2 x 8-15 B", {0: 3, 3: 2}),
        ("4 x 512-1023 B + 7 x 2-4 KiB", {9: 4, 11: 7}),
        ("5 x 512 KiB-1 MiB + 1 x 1-2 MiB", {19: 5, 20: 1}),
    ],
)
def test_sizes_in_words(text, sizes_) -> None:
    assert sizes.table_text(sizes_) == text


def test_rare_sizes_are_put_together() -> None:
    text = sizes.table_text({size: 100 - size for size in range(9)}, most=3)
    assert text == "100 x 1 B + 99 x 2-3 B + 98 x 4-7 B + 567 from 8-15 B to 256-511 B"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--link", "rrt=3ms", "a link has no 'rrt'"),
        ("--link", "rtt=3", "must be a time"),
        ("--link", "rate=fast", "must be a rate"),
        ("--place", "0-3", "does not name a cluster for all ranks"),
        ("--place", "", "does not name a cluster for all ranks"),
        ("--place", "east=0-x", "'0-x' is not a list of ranks"),
        ("--place", "east=0-3,", "'' is not a list of ranks"),
        ("--place", "east=0-3,west=2", "rank 2 is also in 'east'"),
        ("--place", "wets=0-3", "the profile has no cluster 'wets'; did you mean 'west'?"),
        ("--place", "east=0-999999999", "has rank 999999999, but the profile has 4 ranks"),
        ("--link", "", "it is empty"),
        ("--link", "=3ms", "a figure has no name"),
        ("--link", "rtt=3ms,rtt=4ms", "'rtt' is given twice"),
        ("--place", "east=0-2", "rank 3 has no cluster"),
        ("--place", "east=0-4", "'0-4' has rank 4, but the profile has 4 ranks"),
    ],
)
def test_what_makes_no_sense_is_told(profile, tmp_path, capsys, option, value, said) -> None:
    assert cli.main(["profile", "show", str(tmp_path / "app.json"), option, value]) == 2
    assert said in capsys.readouterr().err


# -- the command ----------------------------------------------------------------------------


def show(tmp_path, *options: str) -> int:
    return cli.main(["profile", "show", str(tmp_path / "app.json"), *options])


def test_tables(profile, tmp_path, capsys) -> None:
    assert show(tmp_path) == 0
    text = capsys.readouterr().out
    for words in (
        "app -v",
        "4000 x 8-15 B",
        "MPI_Allreduce of 4 ranks, 2 clusters: 50 times",
        "east -> west",
        "MPI_Recv",
        "It does not suit this grid",
    ):
        assert words in text


def test_json(profile, tmp_path, capsys) -> None:
    assert show(tmp_path, "--json", "--link", "rtt=20ms") == 0
    sums = json.loads(capsys.readouterr().out)
    assert sums["messages"]["messages"] == 4 * MESSAGES
    assert sums["crossing"]["bytes"] == 2 * BYTES
    least, likely_, most = sums["prediction"]["seconds"]
    assert least <= likely_ <= most


def test_what_was_done_once_is_said_so(tmp_path, capsys) -> None:
    ranks = ring()
    for rank in ranks:
        rank["collectives"][0].update(entered=1, sizes={"3": 1})
    ranks[0]["files"] = {"read": 10, "written": 0, "calls": 1}
    written(tmp_path, ranks)
    assert show(tmp_path) == 0
    text = capsys.readouterr().out
    assert "MPI_Allreduce of 4 ranks, 2 clusters: once" in text
    assert "1 call: read 10 B" in text


@pytest.mark.parametrize(
    ("options", "assumed", "taken"),
    [
        (
            (),
            "10 ms both ways, 1 Gbit/s (assumed)",
            "assumed: 10 ms both ways and 1 Gbit/s. --link",
        ),
        (("--link", "rtt=20ms"), "1 Gbit/s (rate assumed)", "assumed: 1 Gbit/s. --link"),
        (("--link", "rate=1Mbit/s"), "1 Mbit/s (time assumed)", "assumed: 10 ms both ways. --link"),
        (("--link", "rtt=2ms,rate=1Mbit/s"), "2 ms both ways, 1 Mbit/s", ""),
        (
            ("--place", "east=0-1,north=2-3"),
            "east - north: 10 ms both ways, 1 Gbit/s (assumed)",
            "",
        ),
    ],
)
def test_what_is_assumed_is_said(tmp_path, capsys, options, assumed, taken) -> None:
    written(tmp_path, ring())
    assert show(tmp_path, *options) == 0
    text = capsys.readouterr().out
    assert assumed in text
    assert taken in text
    assert taken or options[0] == "--place" or "assumed" not in text


def test_places_take_ranges_with_strides(profile, tmp_path, capsys) -> None:
    assert show(tmp_path, "--place", "east=0-2:2,west=1-3:2") == 0
    assert "east: 2 ranks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("PDF", b"%PDF")]
)
def test_a_picture(profile, tmp_path, kind, begins) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"app.{kind}"
    assert show(tmp_path, "--figure", str(path)) == 0
    drawn = path.read_bytes()
    assert drawn.startswith(begins)
    assert len(drawn) > 1000
    assert b"/Type3" not in drawn


def test_what_is_no_profile(tmp_path, capsys) -> None:
    file = tmp_path / "app.json"
    for text, said in (
        ("{", "not JSON"),
        ("{}", "is not a profile"),
        ('{"format": "isthmus-profile", "version": 2}', "version 2"),
        ('{"format": "isthmus-profile", "version": 1}', "is wrong"),
    ):
        file.write_text(text)
        assert show(tmp_path) == 2
        assert said in capsys.readouterr().err
    assert cli.main(["profile", "show", str(tmp_path / "none.json")]) == 2


@pytest.mark.parametrize(
    ("torn", "said"),
    [
        (lambda file: file["ranks"].pop(2), "rank 2 has sent messages, but has not reported"),
        (
            lambda file: file["ranks"][1].update(cluster=9),
            "rank 1 is in cluster 9, but there are only 2",
        ),
        (lambda file: file["pairs"][0].__setitem__(1, 7), "rank 7 is not one of 4"),
        (lambda file: file.update(size=3), "rank 3 is not one of 3"),
        (lambda file: file["collectives"][0].update(communicator=5), "no communicator 5"),
        (
            lambda file: file["grid"]["links"].append({"between": [0, 7]}),
            "a link joins cluster 7, but there are only 2",
        ),
    ],
)
def test_a_profile_whose_parts_do_not_fit_is_refused(profile, tmp_path, capsys, torn, said) -> None:
    file = tmp_path / "app.json"
    parts = json.loads(file.read_text())
    torn(parts)
    file.write_text(json.dumps(parts))
    assert show(tmp_path) == 2
    told = capsys.readouterr().err
    assert f"{file} is not a complete profile: " in told
    assert said in told


@pytest.mark.parametrize("command", [["profile", "show"], ["map"]])
def test_a_profile_of_no_rank_says_so(profile, tmp_path, capsys, command) -> None:
    file = tmp_path / "app.json"
    parts = json.loads(file.read_text())
    file.write_text(json.dumps(parts | {"ranks": [], "pairs": [], "collectives": []}))
    assert cli.main([*command, str(file)]) == 2
    assert f"{file} has no data from any rank" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none/app.png", "No such file or directory\n  Name a file in a folder"),
        ("app.xyz", "unknown type of picture"),
        (".", "unknown type of picture"),
    ],
)
def test_pictures_that_cannot_be_drawn(profile, tmp_path, capsys, name, said) -> None:
    pytest.importorskip("matplotlib")
    assert show(tmp_path, "--figure", str(tmp_path / name)) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.parent.glob(f"{tmp_path.name}.*"))


def test_a_grid_without_room_for_the_profile(profile, tmp_path, capsys, grid_with) -> None:
    grid = grid_with("[cluster.a]\nslots = 3\n")
    assert show(tmp_path, "--grid", str(grid)) == 2
    assert f"--grid {grid}: its clusters have no room" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ("c=0-3", "the grid has no cluster 'c'; it has 'a', 'b'"),
        ("a=0-2,b=3", "cluster 'a' has 2 slots, but the map gives it 3 ranks"),
    ],
)
def test_places_are_those_of_the_grid(profile, tmp_path, capsys, places, said, grid_with) -> None:
    grid = grid_with("[cluster.a]\nslots = 2\n[cluster.b]\n")
    assert show(tmp_path, "--grid", str(grid), "--place", places) == 2
    assert f"--place {places}: {said}" in capsys.readouterr().err


def test_a_run_that_could_not_write_its_profile_does_not_begin(tmp_path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        ProfileFile.of_command_line(tmp_path / "no" / "app.json", [])
    with pytest.raises(UsageError, match="it is a folder"):
        ProfileFile.of_command_line(tmp_path, [])


def test_a_world_of_one_cluster_is_no_native_job_when_it_is_profiled() -> None:
    parts = [Part(["app"], 2, on="east")]
    assert make_plan(two_halves(), parts).alone
    plan = make_plan(two_halves(), parts, outward=True)
    assert not plan.alone
    assert [gateway.clusters for gateway in plan.gateways] == [(0,)]
