"""Files that two clusters write together are byte for byte those of one native job."""

from __future__ import annotations

import subprocess
from pathlib import Path

import mpis
import pytest

SOURCE = Path(__file__).parent / "files" / "write.c"
RANKS = 4


@pytest.fixture(scope="module")
def native(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    mpi = mpis.ALL["mpich4"]
    file = tmp_path_factory.mktemp("files") / "native"
    command = [mpi.mpirun, "-n", str(RANKS), mpi.build(SOURCE, programs), file, "true"]
    subprocess.run(command, check=True, timeout=240)
    return file.read_bytes()


@pytest.mark.parametrize("share", ["true", "false"])
@pytest.mark.parametrize(
    ("east", "west"),
    [("mpich4", "mpich4"), ("openmpi4", "openmpi4"), ("mpich5", "openmpi5")],
)
def test_a_file_is_what_the_native_library_writes(
    isthmus, programs, tmp_path, native, east, west, share
):
    file = tmp_path / "grid"
    one, other = (mpis.ALL[name].build(SOURCE, programs) for name in (east, west))
    isthmus.well("run", *mpis.on(east=(RANKS - 1, one, file, share), west=(1, other, file, share)))
    assert file.read_bytes() == native
    assert list(tmp_path.iterdir()) == [file]  # neither nonce nor shared pointer is left
