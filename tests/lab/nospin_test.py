"""The library that labs preload into ranks that spin. The kernel's count of sleeps shows which
polls wait."""

import os
import subprocess
import sys

import pytest

from isthmus_lab.lab.programs import find_nospin

POLLS = 100
PROGRAM = f"""
import ctypes, resource, select
withhold = ctypes.CDLL(None).isthmus_nospin_withhold
epoll = select.epoll()
def sleeps():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
    for _ in range({POLLS}): epoll.poll(0)
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - before
print(sleeps())
withhold(1); withhold(1); withhold(-1); print(sleeps())
withhold(-1); print(sleeps())
"""


@pytest.fixture
def sleeps():
    """In a process whose polls find nothing, before, while and after it is let be."""
    env = os.environ | {"LD_PRELOAD": str(find_nospin()), "ISTHMUS_NOSPIN_EMPTY": "4"}
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True
    ).stdout
    return [int(word) for word in said.split()]


def test_a_poll_that_would_find_nothing_waits_unless_its_thread_is_let_be(sleeps):
    before, meanwhile, after = sleeps
    assert before >= POLLS - 10
    assert meanwhile < 10
    assert after >= POLLS - 10
