"""A grid of two machines: this host, and one with another processor (tools/foreign_host), which
the option --processor names. Isthmus there is that of tools/foreign, or in the folder that
FOREIGN_PREFIX names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import AS_ROOT
from two_machines import TwoMachines


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processor", default="aarch64", choices=["aarch64", "s390x"])


@pytest.fixture
def processor(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--processor"))


@pytest.fixture
def two_machines(processor: str, tmp_path: Path) -> Iterator[TwoMachines]:
    ssh = Path(__file__).with_name("ssh")
    made = TwoMachines(processor, tmp_path, {**os.environ, **AS_ROOT, "ISTHMUS_SSH": str(ssh)})
    yield made
    made.check_nothing_is_left()
