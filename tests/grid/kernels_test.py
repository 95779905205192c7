"""The kernels of `isthmus bench app`, class S, over two clusters: they verify themselves.

Each kernel runs with its least and most ranks, and with numbers that are not powers of two. Each
number runs on one library or one mixed pair. With --all-libraries, more numbers run on all
libraries."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest

from isthmus_lab.bench.app.programs import KERNEL_FOLDER, KERNELS

SINGLE, MIXED = mpis.SINGLE, mpis.MIXED
RANKS = (1, 8)
MORE_RANKS = (1, 2, 4, 8)
OTHER_RANKS = [("ep", 3), ("is", 5), ("lu", 6), ("bt", 3), ("sp", 6)]


def pairs_for(kernel: int, ranks: int) -> tuple[str, str]:
    """Single libraries and pairs in turn, so that all meet some kernel."""
    pairs = SINGLE if (kernel + ranks.bit_length()) % 2 else MIXED
    return pairs[(kernel + ranks) % len(pairs)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.function is not test_verified:
        return
    everything = metafunc.config.getoption("--all-libraries")
    numbers = MORE_RANKS if everything else RANKS
    cases = [(kernel, n) for kernel in KERNELS for n in numbers] + OTHER_RANKS
    chosen = [
        pytest.param(kernel, n, pair, id=f"{kernel}-{n}-{'+'.join(pair)}")
        for kernel, n in cases
        for pair in (SINGLE + MIXED if everything else [pairs_for(KERNELS.index(kernel), n)])
    ]
    metafunc.parametrize(("kernel", "n", "pair"), chosen)


def words(programs: Path, kernel: str, klass: str, n: int, pair: tuple[str, str]) -> list[object]:
    east, west = (mpis.ALL[name].build(KERNEL_FOLDER / f"{kernel}.c", programs) for name in pair)
    if n == 1:
        return ["--on", "east", "-n", 1, east, klass]
    return mpis.on(east=(n - n // 2, east, klass), west=(n // 2, west, klass))


def test_verified(isthmus, programs: Path, monkeypatch, kernel: str, n: int, pair) -> None:
    if pair[0] != pair[1]:
        monkeypatch.setenv("ISTHMUS_REACH", "gateway")
    done = isthmus.well("run", *words(programs, kernel, "S", n, pair))
    assert f"{kernel.upper()}, class S, {n} rank" in done.stdout
    assert "verified: yes" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("kernel", "klass", "n", "said"),
    [
        *((k, "S", 3, "runs on 1, 2, 4, 8... ranks; there are 3") for k in ("cg", "mg", "ft")),
        ("bt", "S", 7, "this class has too few points for the ranks"),
        ("ep", "X", 2, "give one class: S, W, A or B"),
    ],
)
def test_what_cannot_run_says_why(isthmus, programs: Path, kernel, klass, n, said) -> None:
    pair = ("openmpi4", "openmpi4")
    done = isthmus("run", *words(programs, kernel, klass, n, pair), timeout=240)
    assert done.returncode != 0
    assert f"{kernel.upper()}: {said}" in done.stderr
