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


def sleeps(patience: str) -> int:
    """Counts the sleeps of a process whose polls find nothing."""
    env = os.environ | {"LD_PRELOAD": str(find_nospin()), "ISTHMUS_NOSPIN_EMPTY": patience}
    command = [sys.executable, "-c", PROGRAM]
    return int(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize(("patience", "least", "most"), [("4", POLLS - 10, 2 * POLLS), ("0", 0, 9)])
def test_a_poll_that_would_find_nothing_waits_if_it_may(patience, least, most):
    assert least <= sleeps(patience) <= most
