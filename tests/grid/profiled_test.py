"""`isthmus run --profile` over programs whose messages are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mpis
import pytest

PROGRAMS = Path(__file__).parent / "profile"
LIBRARIES = ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpiabi5"]
EACH = {"6": 10}  # 100 bytes


def ring(size: int) -> list[tuple[int, int]]:
    return [(rank, (rank + 1) % size) for rank in range(size)]


def rows(profile: dict[str, Any], key: str = "pairs") -> dict[tuple[int, int], Any]:
    found = {(row[0], row[1]): row[2:] for row in profile[key]}
    assert len(found) == len(profile[key])
    return found


def calls(profile: dict[str, Any], name: str) -> list[tuple[int, int, int, dict[str, int]]]:
    """(size of the communicator, entered, bytes, sizes) of a function."""
    return [
        (profile["communicators"][row["communicator"]]["size"], *(
            row[key] for key in ("entered", "bytes", "sizes")
        ))
        for row in profile["collectives"]
        if row["function"] == name
    ]  # fmt: skip


def check_ring_and_sums(profile: dict[str, Any], size: int) -> None:
    assert rows(profile) == {pair: [10, 1000, EACH] for pair in ring(size)}
    assert calls(profile, "MPI_Allreduce") == [(size, 5 * size, 40 * size, {"3": 5 * size})]
    assert profile["missing"] == []


def check_pattern(profile: dict[str, Any], size: int) -> None:
    expected: dict[tuple[int, int], list[Any]] = {}

    def add(pair: tuple[int, int], messages: int, count: int, sizes: dict[str, int]) -> None:
        row = expected.setdefault(pair, [0, 0, {}])
        row[0] += messages
        row[1] += count
        for key, number in sizes.items():
            row[2][key] = row[2].get(key, 0) + number

    for pair in ring(size):
        add(pair, 10, 1000, EACH)
        add(pair, 3, 6000, {"10": 3})
    groups: dict[tuple[int, int], list[int]] = {}
    for rank in range(size):
        groups.setdefault((0, rank % 2), []).append(rank)
        groups.setdefault((1, rank // 2), []).append(rank)
    for first, *others in groups.values():
        for other in others:
            add((first, other), 1, 12, {"3": 1})
    assert rows(profile) == expected
    assert rows(profile, "windows") == {pair: [1, 32, {"5": 1}] for pair in ring(size)}
    assert calls(profile, "MPI_Allreduce") == [(size, 5 * size, 40 * size, {"3": 5 * size})]
    each = 4 * size
    (alltoall,) = calls(profile, "MPI_Alltoall")
    assert alltoall[:3] == (size, size, each * size)
    assert sum(entered for _, entered, _, _ in calls(profile, "MPI_Bcast")) == 2 * size
    assert sum(count for _, _, count, _ in calls(profile, "MPI_Bcast")) == 128 * size
    assert [row["written"] for row in profile["files"]] == [40] * size
    assert profile["missing"] == []


@pytest.fixture
def profiled(isthmus, tmp_path: Path):
    """Runs and reads the profile."""

    def run(*words: object, status: int = 0, **more: Any) -> dict[str, Any]:
        path = tmp_path / "app.json"
        done = isthmus("run", "--profile", path, *words, **more)
        assert done.returncode == status, done.stderr
        profile = json.loads(path.read_text())
        assert (profile["format"], profile["version"]) == ("isthmus-profile", 1)
        assert profile["status"] == status
        return profile

    return run


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_pattern_over_two_clusters(profiled, programs, tmp_path, library) -> None:
    program = mpis.ALL[library].build(PROGRAMS / "pattern.c", programs)
    profile = profiled("-n", 4, program, tmp_path / "out")
    check_pattern(profile, 4)
    assert [rank["cluster"] for rank in profile["ranks"]] == [0, 0, 1, 1]
    assert [each["name"] for each in profile["grid"]["clusters"]] == ["east", "west"]
    world = profile["communicators"][
        next(r["communicator"] for r in profile["collectives"] if r["function"] == "MPI_Alltoall")
    ]
    assert world == {"size": 4, "ranks": [[0, 3, 1]], "clusters": 2}


def test_a_pattern_over_an_interleaved_map(profiled, programs, tmp_path) -> None:
    program = mpis.ALL["mpich4"].build(PROGRAMS / "pattern.c", programs)
    ranks = tmp_path / "ranks.map"
    ranks.write_text("0-3:2 west\n1-3:2 east\n")
    profile = profiled("--map", ranks, "-n", 4, program, tmp_path / "out")
    check_pattern(profile, 4)
    names = [each["name"] for each in profile["grid"]["clusters"]]
    homes = [names[rank["cluster"]] for rank in profile["ranks"]]
    assert homes == ["west", "east", "west", "east"]


def test_a_pattern_over_two_libraries(profiled, programs, tmp_path) -> None:
    one = mpis.ALL["openmpi4"].build(PROGRAMS / "pattern.c", programs)
    other = mpis.ALL["mpich4"].build(PROGRAMS / "pattern.c", programs)
    out = tmp_path / "out"
    check_pattern(
        profiled("--on", "east", "-n", 3, one, out, ":", "--on", "west", "-n", 2, other, out), 5
    )


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_a_pattern_in_one_cluster(profiled, programs, tmp_path, library, monkeypatch) -> None:
    monkeypatch.setenv("OMPI_MCA_osc", "^rdma")  # needs the single copies that tests do without
    program = mpis.ALL[library].build(PROGRAMS / "pattern.c", programs)
    profile = profiled("--on", "east", "-n", 3, program, tmp_path / "out")
    check_pattern(profile, 3)
    assert [each["name"] for each in profile["grid"]["clusters"]] == ["east"]
    assert all(rank["wan"] == 0 for rank in profile["ranks"])


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_fortran(profiled, programs, library) -> None:
    program = mpis.ALL[library].build(PROGRAMS / "pattern_in_fortran.f90", programs)
    check_ring_and_sums(profiled("-n", 4, program), 4)


@pytest.mark.parametrize("library", ["openmpi5", "mpich5"])
def test_python(profiled, library) -> None:
    python = mpis.ALL[library].python
    check_ring_and_sums(profiled("-n", 4, python, PROGRAMS / "pattern.py"), 4)


@pytest.mark.parametrize("library", ["openmpi4", "mpich4", "mpich5"])
def test_neighbours_intercommunicators_and_handles_that_come_again(
    profiled, programs, library
) -> None:
    program = mpis.ALL[library].build(PROGRAMS / "shapes.c", programs)
    profile = profiled("-n", 4, program)
    sizes = {pair: row[2] for pair, row in rows(profile).items()}
    for rank in range(4):
        up, down = (rank + 1) % 4, (rank + 3) % 4
        crosswise = {"4": 1} if rank % 2 == 0 else {}
        assert sizes.pop((rank, up)) == {"1": 1, "2": 1, "6": 10} | crosswise
        assert sizes.pop((rank, down)) == {"1": 1, "5": 10}
    assert sizes == {}
    assert calls(profile, "MPI_Neighbor_alltoall") == [(4, 4, 0, {"-1": 4})]
    assert calls(profile, "MPI_Neighbor_allgather") == [(4, 4, 0, {"-1": 4})]
    # All members of an intercommunicator count what its root gives, but those who have no part.
    assert calls(profile, "MPI_Bcast") == [(4, 4, 3, {"-1": 1, "0": 3})]


@pytest.fixture(params=["openmpi4", "mpich4"])
def waits(request, programs) -> Path:
    return mpis.ALL[request.param].build(PROGRAMS / "waits.c", programs)


def test_waits_for_another_cluster_are_told_from_others(profiled, waits, tmp_path) -> None:
    ranks = profiled("-n", 4, "--wdir", tmp_path, waits)["ranks"]
    far, near = ranks[0]["calls"]["MPI_Recv"], ranks[1]["calls"]["MPI_Recv"]
    assert far[0] > 0.3
    assert far[1] > 0.8 * far[0]
    assert near[0] > 0.3
    assert near[1] < 0.2 * near[0]
    assert ranks[0]["wan"] == pytest.approx(sum(wan for _, wan in ranks[0]["calls"].values()))


def test_waits_for_files_of_another_cluster_are_told_from_others(
    profiled, programs, tmp_path
) -> None:
    program = mpis.ALL["openmpi4"].build(PROGRAMS / "files.c", programs)
    ranks = profiled("-n", 4, program, f"east:{tmp_path / 'data'}")["ranks"]
    for name in ("MPI_File_write_at", "MPI_Wait"):
        near, far = ranks[0]["calls"].get(name, [0, 0]), ranks[3]["calls"][name]
        assert near[1] < 0.2 * far[1]
        assert far[0] > 0.03
        assert far[1] > 0.8 * far[0]


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_waits_for_windows_of_another_cluster_are_told_from_others(
    profiled, programs, tmp_path, library
) -> None:
    program = mpis.ALL[library].build(PROGRAMS / "windows.c", programs)
    calls = profiled("-n", 4, "--wdir", tmp_path, program)["ranks"][0]["calls"]
    for far in ("MPI_Win_flush", "MPI_Win_wait"):
        assert calls[far][0] > 0.3
        assert calls[far][1] > 0.8 * calls[far][0]
    unlocked, near = calls["MPI_Win_unlock"]
    assert unlocked > 0.3
    assert near < 0.2 * unlocked


def test_an_abort_leaves_the_profile_of_who_called_it(profiled, waits, tmp_path) -> None:
    profile = profiled("-n", 4, "--wdir", tmp_path, waits, "abort", status=7)
    assert rows(profile)[0, 1] == [1, 4, {"2": 1}]
    assert profile["missing"] == [1, 2, 3]


def test_so_does_an_error(profiled, waits, tmp_path) -> None:
    profile = profiled("-n", 4, "--wdir", tmp_path, waits, "wrong", "rank", status=6)
    assert rows(profile)[0, 1] == [1, 4, {"2": 1}]


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_so_does_an_exit_and_no_child_tells_another(profiled, programs, tmp_path, library) -> None:
    program = mpis.ALL[library].build(PROGRAMS / "exits.c", programs)
    profile = profiled("-n", 4, "--wdir", tmp_path, program, status=5)
    assert rows(profile)[0, 1] == [1, 4, {"2": 1}]
    assert 0 not in profile["missing"]


def test_the_variable_is_for_the_face_alone(isthmus, tmp_path) -> None:
    """A profile is written only on request."""
    python = mpis.ALL["openmpi5"].python
    code = "from mpi4py import MPI; import os; print(*(k for k in os.environ if 'PROFILE' in k))"
    for option in ([], ["--profile", tmp_path / "app.json"]):
        done = isthmus.well("run", *option, "-n", 2, python, "-c", code)
        assert "ISTHMUS_PROFILE" not in done.stdout
        assert bool(list(tmp_path.iterdir())) == bool(option)


def test_a_folder_that_is_not_there_is_told_before_the_run(isthmus, tmp_path) -> None:
    done = isthmus("run", "--profile", tmp_path / "no" / "app.json", "-n", 2, "true")
    assert done.returncode == 2
    assert "--profile" in done.stderr
    assert "does not exist" in done.stderr


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_a_child_ends_whatever_locks_the_profile_had(profiled, programs, library) -> None:
    program = mpis.ALL[library].build(PROGRAMS / "forked.c", programs)
    assert profiled("-n", 2, program)["missing"] == []
