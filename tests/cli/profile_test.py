"""What is made of a profile: the file, its tables, its picture, and what would be elsewhere."""

import json

import pytest

from isthmus import cli
from isthmus.errors import RunError, UsageError
from isthmus.grid import parse, two_halves
from isthmus.job import Result
from isthmus.placement import Part
from isthmus.plan import make_plan
from isthmus.profile import estimates, model, replay, scenario, sizes, summary, verdict
from isthmus.profile.told import Told
from isthmus.profile.writing import ProfileFile
from isthmus.stats import Stats
from isthmus.tune import store
from isthmus.tune.figures import Figures, PairFigures

MESSAGES, BYTES = 1000, 8000
SECONDS = 10.0


def of_rank(rank: int, cluster: str, to: int, **more) -> dict:
    told = {
        "rank": rank,
        "cluster": cluster,
        "host": "n",
        "seconds": SECONDS,
        "mpi": 2.0,
        "wan": 0.0,
        "calls": {"MPI_Recv": [2.0, 0.0]},
        "pairs": [[to, MESSAGES, BYTES, {"3": MESSAGES}]],
        "windows": [],
        "communicators": [{"size": 4, "ranks": [[0, 3, 1]]}],
        "collectives": [
            {
                "function": "MPI_Allreduce",
                "communicator": 0,
                "entered": 50,
                "bytes": 400,
                "sizes": {"3": 50},
                "seconds": 0.1,
            }
        ],
    }
    return told | more


def tell(told: Told, rank: dict, piece: int = 100) -> None:
    text = json.dumps(rank)
    for at in range(0, len(text), piece):
        last = at + piece >= len(text)
        request = {"do": "profile", "text": text[at : at + piece], "last": last}
        assert told.hear(rank["rank"], request) == {}


def written(tmp_path, ranks, grid=None, stats=None) -> model.Profile:
    plan = make_plan(grid or two_halves(), [Part(["app"], 4)], outward=True)
    told = Told()
    for rank in ranks:
        tell(told, rank)
    file = ProfileFile(tmp_path / "app.json", [["app", "-v"]], ["isthmus", "run"])
    said = []
    file.write(plan, Result(0, stats or Stats(), told), said.append)
    found = model.load(tmp_path / "app.json")
    assert bool(said) == bool(found.missing)
    return found


def ring() -> list[dict]:
    return [of_rank(rank, "east" if rank < 2 else "west", (rank + 1) % 4) for rank in range(4)]


LINKED = """
[cluster.east]
slots = 2
[cluster.west]
slots = 2
[[link]]
between = ["east", "west"]
rtt = "20 ms"
rate = "1 Gbit/s"
"""


@pytest.fixture
def profile(tmp_path) -> model.Profile:
    return written(tmp_path, ring(), parse(LINKED, "grid.toml"))


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
    assert [rank.rank for rank in found.ranks] == [0, 1, 2]


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
        ("5 x 512-1023 kB + 1 x 1 MB", {19: 5, 20: 1}),
    ],
)
def test_sizes_in_words(text, sizes_) -> None:
    assert sizes.table_text(sizes_) == text


def test_rare_sizes_are_put_together() -> None:
    text = sizes.table_text({size: 100 - size for size in range(9)}, most=3)
    assert text == "100 x 1 B + 99 x 2-3 B + 98 x 4-7 B + 567 from 8-15 B to 256-511 B"


# -- what if --------------------------------------------------------------------------------


def likely(profile, wanted) -> float:
    return replay.predict(profile, wanted).seconds.likely


def test_one_cluster_has_no_waits(profile) -> None:
    together = scenario.with_places(profile, scenario.usual(profile), "east=0-3")
    prediction = replay.predict(profile, together)
    assert prediction.waits.all == replay.Span(0, 0, 0)
    (said,) = verdict.verdict(together, prediction)
    assert "nothing crosses" in said


def test_serial_messages_and_collectives_wait_one_way_each(profile) -> None:
    waits = replay.waits(profile, scenario.as_it_was(profile))
    assert waits.messages == replay.Span(0.0, MESSAGES * 0.01, MESSAGES * 0.01)
    assert (waits.collectives.least, waits.collectives.most) == pytest.approx((0.5, 1.0))
    assert waits.bytes < 0.001


def test_a_longer_link_takes_longer(profile) -> None:
    wanted = scenario.usual(profile)
    times = [
        likely(profile, scenario.with_link(wanted, f"rtt={ms}ms,rate=10Gbit/s"))
        for ms in (1, 10, 100)
    ]
    assert times == sorted(times)
    assert times[2] - times[0] == pytest.approx(0.099 / 2 * MESSAGES * (1 + 0.05), rel=0.01)


def test_without_a_long_link_half_of_the_messages_wait(tmp_path) -> None:
    near = written(tmp_path, ring(), parse(LINKED.replace("20 ms", "100 us"), "grid.toml"))
    far = replay.predict(near, scenario.with_link(scenario.as_it_was(near), "rtt=20ms"))
    assert not far.learned
    assert far.waits.messages == replay.Span(0.0, MESSAGES * 0.005, MESSAGES * 0.01)


def test_a_narrow_link_takes_as_long_as_its_bytes(profile) -> None:
    narrow = scenario.with_link(scenario.usual(profile), "rtt=1us,rate=1kbit/s")
    assert replay.predict(profile, narrow).seconds.least > BYTES / 125


def test_ranks_that_speak_belong_together(profile) -> None:
    wanted = scenario.usual(profile)
    good = likely(profile, scenario.with_places(profile, wanted, "east=0-1,west=2-3"))
    bad = likely(profile, scenario.with_places(profile, wanted, "east=0,2,west=1,3"))
    assert bad >= good
    messages = [
        replay.waits(profile, scenario.with_places(profile, wanted, text)).messages.most
        for text in ("east=0-1,west=2-3", "east=0,2,west=1,3")
    ]
    assert messages == [10.0, 10.0]


def test_waits_that_were_measured_are_learned_from(tmp_path) -> None:
    ranks = ring()
    for rank in ranks:
        rank["wan"], rank["seconds"] = 5.0, 15.0
    found = written(tmp_path, ranks, parse(LINKED, "grid.toml"))
    was = scenario.as_it_was(found)
    prediction = replay.predict(found, was)
    assert prediction.learned
    assert prediction.seconds.likely == pytest.approx(15.0, rel=0.02)
    twice = replay.predict(found, scenario.with_link(was, "rtt=40ms"))
    assert twice.seconds.likely == pytest.approx(20.0, rel=0.02)


def test_waits_that_distance_does_not_explain_stay(tmp_path) -> None:
    """The far side works; a shorter link would not help."""
    ranks = ring()
    for rank in ranks:
        rank["wan"], rank["seconds"] = 50.0, 100.0
    found = written(tmp_path, ranks, parse(LINKED, "grid.toml"))
    short = scenario.with_link(scenario.as_it_was(found), "rtt=1us")
    assert replay.predict(found, short).seconds.likely == pytest.approx(89.25, abs=0.5)


def test_another_grid(tmp_path, profile) -> None:
    other = tmp_path / "other.toml"
    other.write_text(LINKED.replace("slots = 2", "slots = 1", 1).replace("slots = 2", "slots = 9"))
    found = scenario.of_grid(profile, other)
    assert list(found.home.values()) == [0, 1, 1, 1]
    assert found.wire(0, 1).rtt == 0.02
    pair = PairFigures(between=(found.names[1], found.names[0]), latency=0.015, rate=0, senders=2)
    store.write(other, Figures(clusters=[], pairs=[pair]), "today")
    tuned = scenario.of_grid(profile, other).wire(0, 1)
    assert (tuned.rtt, tuned.rate) == (0.03, found.wire(0, 1).rate)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--link", "rrt=3ms", "a link has no 'rrt'"),
        ("--link", "rtt=3", "must be a time"),
        ("--link", "rate=fast", "must be a rate"),
        ("--place", "0-3", "does not say which ranks are where"),
        ("--place", "east=0-x", "does not say which ranks are where"),
        ("--place", "east=0-2", "rank 3 has no place"),
        ("--place", "east=0-4", "the profile has no rank 4"),
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


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_picture(profile, tmp_path, kind) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"app.{kind}"
    assert show(tmp_path, "--figure", str(path)) == 0
    assert path.stat().st_size > 1000


def test_what_is_no_profile(tmp_path, capsys) -> None:
    file = tmp_path / "app.json"
    for text, said in (
        ("{", "it is no JSON"),
        ("{}", "is no profile"),
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
        (lambda file: file["ranks"].pop(2), "rank 2 has sent, and has told nothing"),
        (lambda file: file["ranks"][1].update(cluster=9), "rank 1 is in cluster 9, of 2"),
        (lambda file: file["pairs"][0].__setitem__(1, 7), "rank 7 is not one of 4"),
        (lambda file: file.update(size=3), "rank 3 is not one of 3"),
        (lambda file: file["collectives"][0].update(communicator=5), "no communicator 5"),
        (
            lambda file: file["grid"]["links"].append({"between": [0, 7]}),
            "a link joins cluster 7, of 2",
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
    assert f"{file} is no whole profile: " in told
    assert said in told


@pytest.mark.parametrize("command", [["profile", "show"], ["map"]])
def test_a_profile_of_no_rank_says_so(profile, tmp_path, capsys, command) -> None:
    file = tmp_path / "app.json"
    parts = json.loads(file.read_text())
    file.write_text(json.dumps(parts | {"ranks": [], "pairs": [], "collectives": []}))
    assert cli.main([*command, str(file)]) == 2
    assert f"{file} has nothing of any rank" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none/app.png", "No such file or directory\n  Name a file in a folder"),
        ("app.xyz", "which kind of picture"),
        (".", "which kind of picture"),
    ],
)
def test_pictures_that_cannot_be_drawn(profile, tmp_path, capsys, name, said) -> None:
    pytest.importorskip("matplotlib")
    assert show(tmp_path, "--figure", str(tmp_path / name)) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.parent.glob(f"{tmp_path.name}.*"))


def test_a_grid_without_room_for_the_profile(profile, tmp_path, capsys) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_text("[cluster.a]\nslots = 3\n")
    assert show(tmp_path, "--grid", str(grid)) == 2
    assert f"--grid {grid}: its clusters do not take" in capsys.readouterr().err


def test_a_run_that_could_not_write_its_profile_does_not_begin(tmp_path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        ProfileFile.of_command_line(tmp_path / "no" / "app.json", [])
    with pytest.raises(UsageError, match="it is a folder"):
        ProfileFile.of_command_line(tmp_path, [])


def test_a_world_of_one_cluster_is_no_native_job_when_it_is_profiled() -> None:
    parts = [Part(["app"], 2, on="east")]
    assert make_plan(two_halves(), parts).alone
    plan = make_plan(two_halves(), parts, outward=True)
    assert not plan.alone
    assert [gateway.clusters for gateway in plan.gateways] == [(0,)]


def test_collectives_take_what_the_choice_of_algorithms_says(tmp_path) -> None:
    """And what it says is between the bounds of the model, for each that it knows."""
    for name in replay._SHAPES:
        ranks = ring()
        for rank in ranks:
            rank["pairs"] = []
            rank["collectives"][0]["function"] = f"MPI_{name}"
        found = written(tmp_path, ranks, parse(LINKED, "grid.toml"))
        waits = replay.waits(found, scenario.as_it_was(found))
        span = waits.collectives
        assert span.least <= span.likely < 1.06 * span.most, name
        # 50 operations of some bytes, 10 ms one way.
        assert 0.24 < span.likely < 1.06, name
    for size, least, most in ((100, 0.5, 0.52), (1 << 20, 0.9, 2.5)):
        ranks = ring()
        for rank in ranks:
            rank["pairs"] = []
            call = rank["collectives"][0]
            call["bytes"], call["sizes"] = 50 * size, {str(size.bit_length() - 1): 50}
        found = written(tmp_path, ranks, parse(LINKED, "grid.toml"))
        likely = replay.waits(found, scenario.as_it_was(found)).collectives.likely
        assert least < likely < most


def test_what_cannot_be_estimated_is_told(monkeypatch, tmp_path) -> None:
    fake = tmp_path / "isthmusd"
    fake.write_text("#!/bin/sh\necho isthmusd: no such command >&2\nexit 109\n")
    fake.chmod(0o755)
    monkeypatch.setattr(estimates, "find_isthmusd", lambda: fake)
    problem = estimates.Problem("barrier", 0, (0, 1), 0.01, 1e8)
    with pytest.raises(RunError, match="estimate failed: isthmusd: no such command"):
        estimates.seconds([problem])
    assert estimates.seconds([]) == {}
