"""Memory of a GPU in messages between clusters. The driver is the tests' own, so no GPU is needed:
a CPU instruction that touches its memory ends the program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import mpis
import pytest

SOURCES = Path(__file__).parent / "gpu"


DRIVERS = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6", "ze": "libze_loader.so.1"}


@pytest.fixture(params=DRIVERS)
def driver(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    library = tmp_path / DRIVERS[request.param]
    shared = ["-shared", "-fPIC", f"-Wl,-soname,{library.name}"]
    subprocess.run(["cc", *shared, SOURCES / f"{request.param}.c", "-o", library], check=True)
    return library


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


def test_a_driver_that_comes_after_messages_is_found(isthmus, driver):
    program = built("openmpi4", SOURCES / "later.c", driver, linked=False)
    done = isthmus("run", "-n", 2, program, driver.name)
    assert done.returncode == 0, done.stdout + done.stderr
