"""Stretches that ways between clusters share, as `isthmus tune` finds them."""

import pytest

from isthmus.grid.grid import ClusterSpec, Grid, LinkSpec
from isthmus.tune.agreement import judge
from isthmus.tune.figures import Figures, best


def of_three(*fans: dict[str, object], link: float = 12e6) -> Figures:
    """Each two 1 Gbit/s apart, alone."""
    cluster = {"ranks": 8, "latency": 5e-5, "rate": link, "message": 2e-6}
    pair = {"latency": 0.01, "rate": 120e6, "senders": 8}
    return Figures.model_validate(
        {
            "clusters": [{"name": name, **cluster} for name in "abc"],
            "pairs": [{"between": list(two), **pair} for two in ("ab", "ac", "bc")],
            "fans": fans,
        }
    )


def fan(*rates: float) -> dict[str, object]:
    """A second of each."""
    seconds = [1 if rate else 0 for rate in rates]
    return {"source": "c", "to": ["a", "b"], "bytes": rates, "seconds": seconds}


def test_ways_that_carry_less_together_share_a_stretch():
    found = of_three(fan(60e6, 58e6), link=125e6)
    assert found.network().endswith(",shared=c/a+c/b:944.0M")
    assert "shared" not in found.network(without={"wan-rate"})


@pytest.mark.parametrize(
    "rates", [(119e6, 115e6), (60e6, 119e6), (0, 0)], ids=["both", "one-is-slow", "not-measured"]
)
def test_ways_that_carry_as_much_together_share_nothing(rates):
    assert "shared" not in of_three(fan(*rates), link=125e6).network()


def test_a_stretch_carries_what_its_last_receiver_waited_for():
    """Each 200 MB over 200 MB/s: one had it sooner, and left the rest to the other."""
    uneven = {"source": "c", "to": ["a", "b"], "bytes": [2e8, 2e8], "seconds": [1.6, 2.0]}
    found = of_three(uneven, link=125e6)
    pairs = [pair.model_copy(update={"rate": 2e8}) for pair in found.pairs]
    (stretch,) = found.model_copy(update={"pairs": pairs}).stretches()
    assert stretch.rate == 2e8


def test_what_ways_share_is_kept_when_two_runs_saw_as_much():
    links = [LinkSpec(between=list(two)) for two in ("ab", "ac", "bc")]
    grid = Grid(cluster={name: ClusterSpec() for name in "abc"}, link=links)
    slow, slower = (of_three(fan(rate, rate), link=125e6) for rate in (60e6, 40e6))
    unsure = judge([slow, slower], grid)
    assert [doubt.sentence for doubt in unsure.doubts] == [
        "from c to a and b at the same time: the bandwidth differs by 33 % between the best runs"
    ]
    assert "shared" not in unsure.figures.network(unsure.left_out)
    sure = judge([slow, slower, slow], grid)
    assert "shared=c/a+c/b:960.0M" in sure.figures.network(sure.left_out)


def test_links_that_are_full_are_no_stretch_that_ways_share():
    assert "shared" not in of_three(fan(48e6, 46e6), link=12e6).network()


@pytest.mark.parametrize(
    ("both", "shares"), [(165e6, False), (184e6, False), (130e6, False), (230e6, True), (0, True)],
    ids=["hosts", "more-than-in-a-fan", "less-than-in-a-fan", "free", "not-measured"],
)  # fmt: skip
def test_what_hosts_and_gateways_carry_is_no_stretch(both: float, shares: bool):
    """Ways of 120 MB/s, recorded with gateways on two busy cores."""
    measured = {**fan(78e6, 76e6), "both_bytes": both, "both_seconds": 1 if both else 0}
    assert ("shared" in of_three(measured, link=1e9).network()) == shares


def test_ways_that_share_little_share_it_whatever_one_of_them_carries():
    """Both ways of one take less than the hosts can do: it has no more to carry."""
    measured = {**fan(30e6, 30e6), "both_bytes": 165e6, "both_seconds": 1}
    assert "shared=c/a+c/b:480.0M" in of_three(measured, link=1e9).network()


def test_a_stretch_is_what_no_run_saw_carry_more():
    busy = of_three(fan(60e6, 60e6), link=125e6)
    alone = of_three(fan(118e6, 60e6), link=125e6)
    assert busy.stretches()
    assert not best([busy, alone]).stretches()
