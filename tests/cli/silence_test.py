"""Messages about silent links."""

from isthmus.grid.grid import ClusterSpec, Grid
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.run.silence import Silences

EAST, WEST = 0x8000_0000, 0x8000_0001


def said(*turns: tuple[int, float, bool]) -> list[str]:
    grid = Grid(cluster={"east": ClusterSpec(), "west": ClusterSpec()})
    silences = Silences(make_plan(grid, [Part(["x"], 2)]))
    return [
        silences.sentence(
            {
                "from": end,
                "to": EAST + WEST - end,
                "seconds": seconds,
                "patience": 5400,
                "over": over,
            }
        )
        for end, seconds, over in turns
    ]


def test_what_both_ends_tell_is_told_once():
    assert said((EAST, 30.2, False), (WEST, 30.1, False), (WEST, 60, False), (EAST, 60, False)) == [
        "link east - west: silent for 30 s, waiting (patience 90 min)",
        "",
        "link east - west: silent for 60 s, waiting (patience 90 min)",
        "",
    ]


def test_its_end_is_told_once_and_the_next_silence_anew():
    again = [(EAST, 30, False), (WEST, 45, True), (EAST, 45, True), (EAST, 30, False)]
    assert said(*again) == [
        "link east - west: silent for 30 s, waiting (patience 90 min)",
        "link east - west: heard again after 45 s",
        "",
        "link east - west: silent for 30 s, waiting (patience 90 min)",
    ]


def test_nonsense_is_not_told():
    grid = Grid(cluster={"east": ClusterSpec()})
    silences = Silences(make_plan(grid, [Part(["x"], 1)]))
    assert silences.sentence({"op": "silence"}) == ""
    assert silences.sentence({"from": EAST, "to": WEST, "seconds": "x", "patience": 1}) == ""
