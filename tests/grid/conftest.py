"""Runs real MPI programs through the real `isthmus run` and checks that nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import mpis
import pytest
from marks import MARK, nothing_is_left
from running import ran


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-libraries",
        action="store_true",
        help="run every program with every MPI library and pair of libraries",
    )


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of compiled test programs; kept between runs to spare the compiler."""
    absent = mpis.missing()
    assert not absent, f"not installed: {', '.join(absent)}; `make setup` installs them"
    folder = mpis.ROOT / "build" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Isthmus:
    """isthmus("run", ...) -> CompletedProcess."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex
        self.ours = {MARK: self.mark, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}

    def __call__(
        self, *words: object, timeout: float = 240, **more: object
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "isthmus", *map(str, words)]
        env = os.environ | self.ours
        done = ran(command, env=env, timeout=timeout, **more)  # type: ignore[call-overload]
        # mpirun of Open MPI 5.0 ends so on a loaded machine, before it starts a rank: once in some
        # thousand runs (2026-12).
        if done.returncode == 213 and "listener thread failed to start" in str(done.stderr):
            done = ran(command, env=env, timeout=timeout, **more)  # type: ignore[call-overload]
        return done

    def well(self, *words: object, **more: object) -> subprocess.CompletedProcess[str]:
        """It succeeds."""
        done = self(*words, **more)  # type: ignore[arg-type]
        assert done.returncode == 0, f"status {done.returncode}: {done.stdout}\n{done.stderr}"
        return done


@pytest.fixture
def isthmus() -> Iterator[Isthmus]:
    """Afterwards no process of the runs may be left."""
    made = Isthmus()
    yield made
    nothing_is_left(made.mark)
