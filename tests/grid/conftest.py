"""Runs real MPI programs through the real `isthmus run` and checks that nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
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


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def isthmus() -> Iterator[Run]:
    """isthmus("run", ...) -> CompletedProcess; afterwards no process of the run may be left."""
    mark = uuid.uuid4().hex
    ours = {MARK: mark, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}

    def run(
        *words: object, timeout: float = 240, **more: object
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "isthmus", *map(str, words)]
        return ran(command, env=os.environ | ours, timeout=timeout, **more)  # type: ignore[call-overload]

    yield run
    nothing_is_left(mark)
