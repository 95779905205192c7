"""The predicted time of a profiled program elsewhere: other links, places, grids."""

from types import SimpleNamespace

import pytest
from profiles import BYTES, LINKED, MESSAGES, of_a_ring, ring, written
from running import shell_script

from isthmus.base.errors import RunError
from isthmus.grid.grid import parse
from isthmus.profile import crossings, estimates, model, replay, scenario, verdict
from isthmus.tune import store
from isthmus.tune.figures import Figures, PairFigures


@pytest.fixture
def profile(tmp_path) -> model.Profile:
    return of_a_ring(tmp_path)


def likely(profile, wanted) -> float:
    return replay.predict(profile, wanted).seconds.likely


def test_one_cluster_has_no_waits(profile) -> None:
    together = scenario.with_places(profile, scenario.usual(profile), "east=0-3")
    prediction = replay.predict(profile, together)
    assert prediction.waits.all == replay.Span(0, 0, 0)
    (said,) = verdict.verdict(together, prediction)
    assert "nothing crosses" in said


def test_serial_messages_and_collectives_wait_one_way_each(profile) -> None:
    """Two pairs of ranks cross; in the longest chain each message waits for one of the others."""
    waits = replay.waits(profile, scenario.as_it_was(profile))
    assert waits.messages == replay.Span(0.0, MESSAGES * 0.01, 2 * MESSAGES * 0.01)
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


def test_without_a_long_link_most_messages_of_a_pair_wait(tmp_path) -> None:
    near = written(tmp_path, ring(), parse(LINKED.replace("20 ms", "100 us"), "grid.toml"))
    far = replay.predict(near, scenario.with_link(scenario.as_it_was(near), "rtt=20ms"))
    assert not far.learned
    assert far.waits.messages == replay.Span(0.0, MESSAGES * 0.008, 2 * MESSAGES * 0.01)


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
    assert messages == [20.0, 40.0]


def test_waits_that_were_measured_are_learned_from(tmp_path) -> None:
    ranks = ring()
    for rank in ranks:
        rank["wan"], rank["mpi"], rank["seconds"] = 5.0, 7.0, 15.0
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
        rank["wan"], rank["mpi"], rank["seconds"] = 50.0, 60.0, 100.0
    found = written(tmp_path, ranks, parse(LINKED, "grid.toml"))
    short = scenario.with_link(scenario.as_it_was(found), "rtt=1us")
    prediction = replay.predict(found, short)
    assert not prediction.learned
    # All messages and collectives one after the other: 21 s.
    assert prediction.seconds.likely == pytest.approx(100 - 21, abs=0.1)


def test_what_one_rank_works_for_is_no_wait_for_the_distance(tmp_path) -> None:
    ranks = ring()
    for rank in ranks:
        rank["wan"], rank["mpi"], rank["seconds"] = 12.0, 14.0, 20.0
    ranks[2]["wan"], ranks[2]["mpi"] = 0.0, 1.0
    found = written(tmp_path, ranks, parse(LINKED, "grid.toml"))
    prediction = replay.predict(found, scenario.as_it_was(found))
    assert not prediction.learned
    assert prediction.near == pytest.approx(19.0, abs=0.5)
    assert prediction.seconds.likely == pytest.approx(20.0)


# -- a ping-pong, whose answers come a whole round trip after what they answer -----------------


def exchange(tmp_path, there: int, back: int, *, wan: float, call: str = "MPI_Recv", **links):
    """Ranks 0 and 2 send to each other, and do nothing else."""
    ranks = ring()
    for rank in ranks:
        rank["pairs"], rank["collectives"] = [], []
        rank["seconds"] = 0.1 + wan
    for one, other, count in ((0, 2, there), (2, 0, back)):
        ranks[one]["pairs"] = [[other, count, 8 * count, {"3": count}]] if count else []
        ranks[one]["wan"], ranks[one]["mpi"] = wan, wan + 0.09
        ranks[one]["calls"] = {call: [wan, wan]}
    ranks[1]["mpi"] = ranks[3]["mpi"] = 0.09 + wan
    return written(tmp_path, ranks, parse(LINKED, "grid.toml"), **links)


def test_each_message_of_a_ping_pong_may_wait_for_the_one_before(tmp_path) -> None:
    found = exchange(tmp_path, 200, 200, wan=0.0)
    waits = replay.waits(found, scenario.as_it_was(found))
    assert waits.messages == replay.Span(0.0, 200 * 0.01, 400 * 0.01)


def test_waits_of_a_ping_pong_are_no_work(tmp_path) -> None:
    """Time that gateways add to each way is also gone in one cluster, and comes again over a
    link."""
    found = exchange(tmp_path, 200, 200, wan=4.2)
    was = scenario.as_it_was(found)
    prediction = replay.predict(found, was)
    assert prediction.learned
    assert prediction.seconds.likely == pytest.approx(found.seconds)
    assert "It does not suit this grid" in " ".join(verdict.verdict(was, prediction))
    together = scenario.with_places(found, was, "east=0-3")
    assert likely(found, together) == pytest.approx(0.1, abs=1e-3)
    longer = replay.predict(found, scenario.with_link(was, "rtt=40ms"))
    assert longer.seconds.likely == pytest.approx(0.1 + 8.2, abs=1e-3)
    assert longer.seconds.most == pytest.approx(0.1 + 8.2, abs=1e-3)


def test_what_nothing_answers_is_no_chain(tmp_path) -> None:
    found = exchange(tmp_path, 200, 0, wan=0.0)
    waits = replay.waits(found, scenario.as_it_was(found))
    assert waits.messages == replay.Span(0.0, 0.01, 0.01)
    few = exchange(tmp_path, 200, 3, wan=0.0)
    assert replay.waits(few, scenario.as_it_was(few)).messages.most == pytest.approx(7 * 0.01)


def test_synchronous_sends_are_answered(tmp_path) -> None:
    found = exchange(tmp_path, 200, 0, wan=0.0, call="MPI_Ssend")
    waits = replay.waits(found, scenario.as_it_was(found))
    assert waits.messages.most == pytest.approx(400 * 0.01)


def test_collectives_bring_a_chain_back(tmp_path) -> None:
    """Messages go one way, with a collective after each 20."""
    ranks = ring()
    for rank in ranks:
        rank["pairs"] = []
    ranks[0]["pairs"] = [[2, MESSAGES, BYTES, {"3": MESSAGES}]]
    found = written(tmp_path, ranks, parse(LINKED, "grid.toml"))
    waits = replay.waits(found, scenario.as_it_was(found))
    assert waits.messages.most == pytest.approx(51 * 0.01)


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


def test_collectives_take_what_the_choice_of_algorithms_says(tmp_path) -> None:
    """And what it says is between the bounds of the model, for each that it knows."""
    names = [
        "Barrier", "Bcast", "Scatter", "Scatterv_init", "Gather", "Igatherv", "Reduce", "Scan",
        "Iallreduce_c", "Exscan", "Iscan", "Reduce_scatter_init", "Reduce_scatter_block",
        "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Ialltoallw",
    ]  # fmt: skip
    assert {crossings.kind_of(f"MPI_{name}") for name in names} == set(crossings.SHAPES)
    for name in names:
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
    fake = shell_script(tmp_path / "isthmusd", "echo isthmusd: no such command >&2\nexit 109")
    monkeypatch.setattr(estimates, "find_isthmusd", lambda: fake)
    problem = estimates.Problem("barrier", 0, (0, 1), 0.01, 1e8)
    with pytest.raises(RunError, match="estimate failed: isthmusd: no such command"):
        estimates.seconds([problem])
    assert estimates.seconds([]) == {}


@pytest.mark.parametrize(
    ("most", "learned", "words"),
    [
        (1.05, False, "fairly sure"),
        (1.9, True, "fairly sure"),
        (2.5, True, "a rough guess"),
        (20, True, "hardly more than a bound"),
    ],
)
def test_wide_bounds_are_never_fairly_sure(most, learned, words):
    known = SimpleNamespace(seconds=replay.Span(1.0, 1.0, most), learned=learned)
    assert replay.Prediction.certainty.fget(known) == words


def test_times_have_two_digits():
    assert [verdict._short(times) for times in (1.016, 5.66, 27.81)] == ["1.02", "5.7", "28"]
