"""Real labs, through the real command; afterwards nothing of them may be left."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import slurms
from labs import Labs, StandingLab, labs


@pytest.fixture
def lab() -> Iterator[Labs]:
    with labs() as made:
        yield made


@pytest.fixture(scope="module")
def standing() -> Iterator[Callable[..., StandingLab]]:
    """A function that starts labs which the module's tests share; the same words, the same lab."""
    made: dict[tuple[object, ...], StandingLab] = {}
    with contextlib.ExitStack() as keepers:

        def get(*words: object) -> StandingLab:
            if words not in made:
                made[words] = StandingLab(keepers.enter_context(labs()), *words)
            return made[words]

        yield get
        for lab in made.values():
            lab.close()


@pytest.fixture(scope="session")
def hello(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A program of Debian's two libraries, by their names."""
    folder = slurms.built(tmp_path_factory.mktemp("hello"))
    return lambda mpi: folder / mpi
