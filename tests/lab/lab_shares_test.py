"""The number of ranks of a program that each site of a testbed gets."""

import grids
import mpis
import pytest

PROGRAMS = sorted(mpis.PROGRAMS.rglob("*.c"))


@pytest.mark.parametrize(("clusters", "each"), [("ab", 2), ("ac", 2), ("ab", 4), ("abc", 1)])
def test_programs_run_with_a_number_of_ranks_that_their_head_names(clusters, each):
    for program in PROGRAMS:
        shares = grids.shares(program, clusters, each)
        fitting = [n for n in mpis.ranks_of(program) if n <= each * len(clusters)]
        assert bool(shares) == bool(fitting), program
        if shares:
            assert sum(shares.values()) == max(fitting), program
            assert all(0 < ranks <= each for ranks in shares.values()), program
            assert len(shares) > 1, program


def test_two_ranks_are_at_the_ends():
    program = mpis.PROGRAMS / "p2p/partitioned_threads.c"
    assert grids.shares(program, "ac", 2) == {"a": 1, "c": 1}
    assert grids.shares(program, "abc", 1) == {"a": 1, "c": 1}
