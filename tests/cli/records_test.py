"""Records are dataclasses but for the time in which they are made."""

import dataclasses
from dataclasses import field, replace

import pytest

from isthmus.records import dataclass


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0
    text: str = field(default="", compare=False)


@dataclass
class Basket:
    things: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Place(Point):
    name: str = "here"


def test_values_make_a_record():
    assert Point(1, 2, "a") == Point(1, 2, "b") != Point(1, 3, "a")
    assert len({Point(1), Point(1, 0, "a"), Point(2)}) == 2
    assert replace(Point(1), y=5) == Point(1, 5)
    assert Point(1) != Place(1) == Place(1, 0, name="here") != Place(1, name="there")
    assert repr(Place(1)) == "Place(x=1, y=0, text='', name='here')"
    assert dataclasses.astuple(Point(1, 2, "a")) == (1, 2, "a")
    assert (Point(1) == 1, Point.__doc__) == (False, "Point")


def test_a_record_that_changes_has_no_hash():
    basket = Basket()
    basket.things.append(1)
    assert basket == Basket([1]) != Basket()
    with pytest.raises(TypeError, match="unhashable"):
        hash(basket)
