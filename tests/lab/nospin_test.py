"""The library that labs preload into ranks that spin. The kernel's count of sleeps shows which
polls wait."""

import os
import subprocess
import sys

import pytest

from isthmus_lab.lab.programs import find_nospin

POLLS = 100
PROGRAM = f"""
import resource, select
epoll = select.epoll()
before = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
for _ in range({POLLS}): epoll.poll(0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before)
"""


def sleeps(patience: str, also: str = "") -> int:
    """Counts the sleeps of a process whose polls find nothing. `also`: another library for it."""
    preload = f"{find_nospin()}:{also}".rstrip(":")
    env = os.environ | {"LD_PRELOAD": preload, "ISTHMUS_NOSPIN_EMPTY": patience}
    command = [sys.executable, "-c", PROGRAM]
    return int(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize(("patience", "least", "most"), [("4", POLLS - 10, 2 * POLLS), ("0", 0, 9)])
def test_a_poll_that_would_find_nothing_waits_if_it_may(patience, least, most):
    assert least <= sleeps(patience) <= most


@pytest.mark.parametrize(("yields", "least", "most"), [("1", POLLS - 10, 2 * POLLS), ("0", 0, 9)])
def test_a_poll_waits_only_while_open_mpi_yields(tmp_path, yields, least, most):
    """A rank of Isthmus that looks at two networks has Open MPI not yield. The library here has no
    more of Open MPI than that variable."""
    library = tmp_path / "libyields.so"
    source = f"_Bool opal_progress_yield_when_idle = {yields};"
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=source, text=True, check=True)
    assert least <= sleeps("4", str(library)) <= most
