"""Shared by the tests of the agent: the real isthmusd over pipes. ctest gives ISTHMUSD."""
# ruff: noqa: PT009, PTH102, PTH118, PTH120, PTH123
# unittest and os: CTest runs this with whatever Python the build has.

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from agent_client import DEADLINE, Agent

ISTHMUSD = os.environ["ISTHMUSD"]
ABOUT = subprocess.run(
    [ISTHMUSD, "--version"], capture_output=True, text=True, check=True
).stdout.split()
VERSION = ABOUT[1].rstrip(",")
WIRE = int(ABOUT[-1])
SECRET = "00ff" * 16
FIRST_GATEWAY = 0x80000000
STUBS = ["ompi-4.1", "ompi-5.0", "mpich-4.0", "mpich-5.0", "mpiabi-5.0"]
# A launcher for one rank, and one that runs a shell loop of N ranks.
SINGLE = "env PMI_RANK=0 {command}"
LOOP = "sh -c 'for r in $(seq 0 $(({n} - 1))); do PMI_RANK=$r {command} & done; wait'"

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char* preloaded(void) { /* LD_PRELOAD does not show it any more */
  static char line[5000];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    if (strstr(line, "/libisthmus-") == NULL) continue;
    line[strcspn(line, "\n")] = 0;
    return strchr(line, '/');
  }
  return "nothing";
}
int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("rank %d of %d wears %s extra %s args %d\n", rank, size,
         preloaded(), getenv("EXTRA"), argc);
  if (rank == 0 && argc > 1 && argv[1][0] == 'i') {
    char line[100] = "";
    if (fgets(line, sizeof line, stdin)) printf("read %s", line);
  }
  MPI_Finalize();
  return argc > 2 ? 3 : 0;
}
"""


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class AgentCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="isthmus-agent-test-")
        source = os.path.join(cls.folder, "empty.c")
        with open(source, "w") as file:
            file.write("int isthmus_test_stub;\n")
        empty = os.path.join(cls.folder, "empty.so")
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", empty], check=True)
        cls.libdir = os.path.join(cls.folder, "lib")
        os.mkdir(cls.libdir)
        for name in [*STUBS, "face-ompi", "face-mpich", "face-mpiabi"]:
            shutil.copy(empty, os.path.join(cls.libdir, f"libisthmus-{name}.so"))
        with open(os.path.join(cls.folder, "program.c"), "w") as file:
            file.write(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.runtime = tempfile.mkdtemp(prefix="irt-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.runtime)
        self.agent = None

    def start(self, mode="agent", **env):
        self.agent = Agent(
            ISTHMUSD,
            mode,
            {"ISTHMUS_LIBDIR": self.libdir, "XDG_RUNTIME_DIR": self.runtime, **env},
        )
        self.addCleanup(self.agent.close)
        self.hello = self.agent.expect("hello")
        return self.agent

    def configure(self, launch=None, **keys):
        self.agent.send(
            "configure",
            **{
                "version": VERSION,
                "wire": WIRE,
                "job": "test",
                "secret": SECRET,
                "cluster": "east",
                "env": {},
                "mpi": None,
                "launch": launch,
                "wdir": self.folder,
                "gateways": [],
                "settings": {},
                **keys,
            },
        )
        return self.agent.receive()

    def link(self, ranks):
        world = {"clusters": [{"name": "east", "size": ranks}], "gateways": []}
        self.agent.send("link", world=world, links=[], routes=[])
        self.agent.expect("linked")

    def spawn(self, *parts, **keys):
        parts = [{"n": n, "argv": argv, "env": env} for n, argv, env in parts]
        size = sum(part["n"] for part in parts)
        self.link(size)
        self.agent.send(
            "spawn",
            **{
                "parts": parts,
                "first": 0,
                "size": size,
                "stdin": False,
                "tag_output": False,
                **keys,
            },
        )
        self.agent.expect("spawned")

    def ready(self, launch=SINGLE, **keys):
        self.start()
        self.assertEqual(self.configure(launch, **keys)["op"], "configured")
