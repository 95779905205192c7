"""Messages, files and windows over 2 GiB across clusters. About 13 GB of memory traffic and 5 GB
of files: with --all-libraries only."""

from __future__ import annotations

import mpis
import pytest

LARGE = mpis.ROOT / "tests" / "grid" / "large"


@pytest.mark.timeout(700)
@pytest.mark.parametrize("library", ["mpich5", "openmpi4"])
def test_over_2gib(request, isthmus, programs, library):
    """MPICH 5 has large counts, Open MPI 4 has not."""
    if not request.config.getoption("--all-libraries"):
        pytest.skip("takes long: with --all-libraries only")
    done = isthmus.well(
        "run", "-n", 2, mpis.ALL[library].build(LARGE / "over_2gib.c", programs), timeout=600
    )
    assert "passed on 2 ranks" in done.stdout


@pytest.mark.timeout(700)
@pytest.mark.parametrize("library", ["mpich5", "openmpi4"])
def test_rooted_over_2gib_by_leaders(request, isthmus, programs, library):
    if not request.config.getoption("--all-libraries"):
        pytest.skip("takes long: with --all-libraries only")
    program = mpis.ALL[library].build(LARGE / "rooted.c", programs)
    coll = "gather=magpie,scatter=magpie"
    done = isthmus.well("run", "-x", f"ISTHMUS_COLL={coll}", "-n", 4, program, timeout=600)
    assert "passed on 4 ranks" in done.stdout


@pytest.mark.timeout(700)
@pytest.mark.parametrize("program", ["files.c", "windows.c"])
def test_large_counts(request, isthmus, programs, program):
    if not request.config.getoption("--all-libraries"):
        pytest.skip("takes long: with --all-libraries only")
    isthmus.well("run", "-n", 2, mpis.ALL["mpich5"].build(LARGE / program, programs), timeout=600)
