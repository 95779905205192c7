"""Whom `--only` leaves in."""

import pytest

from isthmus.base.errors import UsageError
from isthmus_lab.bench.wanted import Wanted

THERE = ["isthmus", "tcp", "tcp-untuned"]


def asked(*patterns: str) -> list[str]:
    wanted = Wanted(patterns)
    found = [key for key in THERE if wanted(key)]
    wanted.check()
    return found


def test_patterns_that_fit_say_nothing(capsys) -> None:
    assert asked() == THERE
    assert asked("tcp*", "isthmus") == THERE
    assert capsys.readouterr().err == ""


def test_one_that_fits_nobody_is_said_where_another_fits(capsys) -> None:
    assert asked("tcp", "isthmsu") == ["tcp"]
    said = capsys.readouterr().err
    assert "--only isthmsu: unknown contestant; contestants are 'isthmus', 'tcp'" in said


def test_where_none_fits_there_is_nobody_to_measure() -> None:
    with pytest.raises(UsageError, match="--only a b: unknown contestant"):
        asked("a", "b")
