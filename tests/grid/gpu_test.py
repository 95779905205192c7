"""Memory of a GPU in messages between clusters. The driver is the tests' own, so no GPU is needed:
a CPU instruction that touches its memory ends the program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import mpis
import pytest
from mixed_test import AARCH64, S390X, grid_file

SOURCES = Path(__file__).parent / "gpu"


DRIVERS = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6", "ze": "libze_loader.so.1"}


def built_driver(kind: str, folder: Path, *options: str) -> Path:
    library = folder / DRIVERS[kind]
    shared = ["-shared", "-fPIC", "-pthread", f"-Wl,-soname,{library.name}", *options]
    subprocess.run(["cc", *shared, SOURCES / f"{kind}.c", "-o", library], check=True)
    return library


@pytest.fixture(params=DRIVERS)
def driver(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return built_driver(request.param, tmp_path)


def built(name: str, source: Path, library: Path, *, linked: bool = True) -> Path:
    program = library.with_name(f"{source.stem}-{name}")
    # RPATH, unlike RUNPATH, holds for dlopen, too.
    rpath = f"-Wl,--disable-new-dtags,-rpath,{library.parent}"
    needs = [library] if linked else ["-ldl"]
    subprocess.run([mpis.ALL[name].cc, source, *needs, rpath, "-o", program], check=True)
    return program


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", ["openmpi4", "mpich4", "openmpi5", "mpich5"])
def test_memory_of_a_gpu_crosses(isthmus, driver, name, ranks):
    program = built(name, SOURCES / "device.c", driver)
    done = isthmus("run", "-n", ranks, program, program.with_name("data"))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["openmpi4", "mpich4", "openmpi5", "mpich5"])
def test_windows_are_in_memory_of_a_gpu(isthmus, driver, name):
    program = built(name, SOURCES / "windows.c", driver)
    done = isthmus("run", "-n", 4, program)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("driver", ["cuda", "ze"], indirect=True)
def test_windows_of_unlike_libraries_are_in_memory_of_a_gpu(isthmus, driver):
    east, west = (built(name, SOURCES / "windows.c", driver) for name in ("openmpi4", "mpich4"))
    done = isthmus("run", "--on", "east", "-n", 2, east, ":", "--on", "west", "-n", 2, west)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_files_convert_memory_of_a_gpu(isthmus, driver, name):
    program = built(name, SOURCES / "files.c", driver)
    done = isthmus("run", "-n", 4, program, program.with_name("data"))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["openmpi4", "mpich4"])
def test_a_failing_driver_is_named_to_origins_of_windows(isthmus, driver, name):
    program = built(name, SOURCES / "windows.c", driver)
    done = isthmus("run", "-n", 4, "env", "DRIVER_FAILS=1", program)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("driver", "setting"),
    [("cuda", "DRIVER_POOLS=1"), ("hip", "DRIVER_VERSION=5")],
    ids=["no-context", "hip-5"],
    indirect=["driver"],
)
def test_drivers_differ(isthmus, driver, setting):
    program = built("openmpi4", SOURCES / "device.c", driver)
    done = isthmus("run", "-n", 2, "env", setting, program, program.with_name("data"))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_errors_of_the_driver_are_errors_of_mpi(isthmus, driver):
    program = built("mpich4", SOURCES / "device.c", driver)
    done = isthmus("run", "-n", 2, "env", "DRIVER_FAILS=1", program)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("reach", ["", "gateway"])
@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_large_messages_flow(isthmus, driver, monkeypatch, name, reach):
    monkeypatch.setenv("ISTHMUS_REACH", reach)
    program = built(name, SOURCES / "flow.c", driver)
    done = isthmus("run", "-n", 2, program, program.with_name("received"))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("setting", ["DRIVER_PINS=0", "DRIVER_RATE=200000000"])
def test_large_messages_flow_with_another_driver(isthmus, driver, setting):
    program = built("mpich4", SOURCES / "flow.c", driver)
    run = ["env", setting, program, program.with_name("received")]
    done = isthmus("run", "-n", 2, *run)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("kind", DRIVERS)
def test_a_driver_may_lack_host_functions(isthmus, tmp_path, kind):
    program = built(
        "openmpi5", SOURCES / "flow.c", built_driver(kind, tmp_path, "-DNO_HOST_FUNCTIONS")
    )
    done = isthmus("run", "-n", 2, program, program.with_name("received"))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["openmpi4", "mpich4", "openmpi5", "mpich5"])
def test_copies_that_fail_are_errors_of_collectives_files_and_windows(isthmus, driver, name):
    program = built(name, SOURCES / "failing.c", driver)
    done = isthmus("run", "-n", 4, program, program.with_name("data"), timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


LINK = '[cluster.east]\n[cluster.west]\n[[link]]\nbetween = ["east", "west"]\n'
LINKS = {
    "compressed": 'reach = "gateway"\nencrypt = true\ncompress = true\n',
    "streams": 'reach = "gateway"\nencrypt = false\nstreams = 4\n',
    "direct": 'reach = "direct"\nencrypt = true\n',
    "ucx": 'reach = "direct"\nencrypt = false\nnet = "ucx"\n',
}


@pytest.mark.parametrize("link", LINKS)
def test_copies_that_fail_under_way_are_errors_over_links_of_all_kinds(
    isthmus, tmp_path, link, grid_with
):
    grid = grid_with(LINK + LINKS[link])
    program = built("openmpi4", SOURCES / "spoil.c", built_driver("cuda", tmp_path))
    done = isthmus("run", "-g", grid, "-n", 2, program, timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("reach", ["", "gateway"])
@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_copies_that_fail_under_way_are_errors_of_both_ends(
    isthmus, driver, monkeypatch, name, reach
):
    monkeypatch.setenv("ISTHMUS_REACH", reach)
    program = built(name, SOURCES / "spoil.c", driver)
    done = isthmus("run", "-n", 2, program, timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("rate", [100000000, 5000000000])
@pytest.mark.parametrize("name", ["openmpi4", "mpich5"])
def test_messages_end_early(isthmus, grid_with, driver, name, rate):
    grid = grid_with(
        "".join(f"[cluster.{each}]\nslots = 1\n" for each in ("east", "west", "north"))
    )
    program = built(name, SOURCES / "losing.c", driver)
    run = ["env", f"DRIVER_RATE={rate}", program]
    done = isthmus("run", "--survive", "-g", grid, "-n", 3, *run, timeout=120)
    assert (done.returncode, done.stdout) == (0, "goes on\n" * 2), done.stdout + done.stderr


def test_a_driver_that_comes_after_messages_is_found(isthmus, driver):
    program = built("openmpi4", SOURCES / "later.c", driver, linked=False)
    isthmus.well("run", "-n", 2, program, driver.name)


@pytest.mark.parametrize(
    ("claim", "order"), [(S390X, ["big"]), (AARCH64, [])], ids=["big", "little"]
)
@pytest.mark.parametrize("pair", [("mpich4", "openmpi4"), ("openmpi5", "mpich5")], ids="+".join)
def test_packed_data_of_unlike_processors_is_in_memory_of_a_gpu(
    isthmus, tmp_path, driver, pair, claim, order
):
    east, west = (built(name, SOURCES / "pack.c", driver) for name in pair)
    command = ["--on", "east", "-n", 1, east, ":", "--on", "west", "-n", 1, west, *order]
    done = isthmus("run", "-g", grid_file(tmp_path, claim), *command)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_partitions_of_unlike_processors_can_be_marked_again(isthmus, tmp_path, driver):
    program = built("mpich5", SOURCES / "spoil.c", driver)
    command = ["-n", 2, program, "big"]
    done = isthmus("run", "-g", grid_file(tmp_path, S390X), *command, timeout=60)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
