"""After the first MPI call nothing that is for the rank alone is in os.environ or in children."""

import os
import subprocess
import sys
from pathlib import Path

from mpi4py import MPI

HIDDEN = ("ISTHMUS_SECRET", "ISTHMUS_WORLD", "libisthmus-")


def check(where: str, text: str) -> int:
    found = [name for name in HIDDEN if name in text]
    if found:
        print(f"{where}: {', '.join(found)}", file=sys.stderr)
    return len(found)


wrong = check("os.environ", str(dict(os.environ)))
wrong += check("/proc/self/environ", Path("/proc/self/environ").read_bytes().decode())
for environment in (None, dict(os.environ)):
    child = subprocess.run(["env"], env=environment, capture_output=True, text=True, check=True)
    wrong += check("the environment of a child", child.stdout)
if MPI.COMM_WORLD.size != 4 or "ISTHMUS_CLUSTER" not in os.environ:
    wrong += 1
sys.exit(MPI.COMM_WORLD.allreduce(wrong) != 0)
