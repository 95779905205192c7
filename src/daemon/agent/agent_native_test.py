"""isthmusd agents that start programs under the native MPIs that are found."""
# ruff: noqa: PT009, PTH101, PTH110, PTH123, PTH118, PTH119, PTH120
# unittest and os: CTest runs this with whatever Python the build has.

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from agent_case import AgentCase, alive, wait_until


def native(compiler, launcher):
    return shutil.which(compiler) and shutil.which(launcher)


class NativeMpi:
    """Tests with a real native MPI; `prefix` for those outside the system's folders."""

    compiler = abi = stub = family = prefix = python = None

    def build(self):
        path = os.path.join(self.folder, "program-" + self.stub)
        if not os.path.exists(path):
            subprocess.run(
                [self.compiler, os.path.join(self.folder, "program.c"), "-o", path], check=True
            )
        return path

    def run_program(self, *args, keys=None, **configure):
        program = self.build()
        self.ready(None, **configure)
        self.agent.send("inspect", argv=[program])
        self.found = self.agent.expect("program")
        self.spawn(
            (1, [program, *args], {"EXTRA": "a"}),
            (2, [program, *args], {"EXTRA": "b"}),
            **(keys or {}),
        )

    def test_the_version_is_left_out_if_nobody_asks(self):
        self.ready(None)
        self.agent.send("inspect", argv=[self.build()], ask_version=False)
        found = self.agent.expect("program")
        self.assertEqual((found["abi"], found["mpi_version"]), (self.abi, ""))

    def test_program_is_recognised_and_runs(self):
        self.run_program()
        exit_message, output = self.agent.until("exit")
        self.assertEqual(exit_message["status"], 0, output)
        self.assertEqual(self.found["abi"], self.abi)
        self.assertEqual(os.path.basename(self.found["stub"]), f"libisthmus-{self.stub}.so")
        self.assertIn(self.family, " ".join(self.found["mpi_version"].split()))
        lines = sorted(output[1].decode().splitlines())
        self.assertEqual(
            lines,
            [f"rank {r} of 3 wears {self.found['stub']} extra {'abb'[r]} args 1" for r in range(3)],
        )

    def test_status_and_standard_input(self):
        self.run_program("i", "x", keys={"stdin": True})
        self.agent.send("stdin", b"some words\n")
        self.agent.send("stdin-eof")
        exit_message, output = self.agent.until("exit")
        self.assertIn(b"read some words\n", output[1])
        self.assertEqual(exit_message["status"], 3)

    def test_srun_is_told_which_pmi(self):
        """A stand-in for Slurm's, which prints how it was called."""
        folder = tempfile.mkdtemp(dir=self.folder)
        srun = os.path.join(folder, "srun")
        offered = "MPI plugin types are...\\n\\tnone\\n\\tpmi2\\n\\tpmix\\n"
        with open(srun, "w") as file:
            file.write(
                "#!/bin/sh\n"
                "[ $1 = --version ] && echo slurm 23.02.1 && exit\n"
                f'[ $1 = --mpi=list ] && printf "{offered}" && exit\n'
                'echo "$@"\n'
            )
        os.chmod(srun, 0o755)
        self.ready(srun)
        self.spawn((2, [self.build()], {}))
        _, output = self.agent.until("exit")
        wanted = "--mpi=pmix" if self.abi == "ompi" else "--mpi=pmi2"
        self.assertIn(wanted, output[1].decode().split())

    def sleepers(self, command="exec sleep 600", setup=":"):
        self.ready(self.mpirun, mpi=self.prefix)
        self.spawn((2, ["sh", "-c", f"{setup}; echo $$; {command}"], {}))
        text = b""
        while text.count(b"\n") < 2:
            text += self.agent.expect("output")["bytes"]
        return [int(line) for line in text.split()]

    def test_signal_reaches_all_ranks(self):
        self.sleepers("while :; do sleep 0.05; done", setup="trap 'echo caught; exit 0' USR1")
        self.agent.send("signal", signal=int(signal.SIGUSR1))
        _, output = self.agent.until("exit")
        self.assertEqual(output[1].split(), [b"caught", b"caught"])

    def test_killed_rank_ends_the_job(self):
        pids = self.sleepers()
        os.kill(pids[0], signal.SIGKILL)
        exit_message, _ = self.agent.until("exit")
        self.assertNotEqual(exit_message["status"], 0)
        self.assertFalse(any(map(alive, pids)))

    def test_another_mpis_launcher_is_refused(self):
        other = "mpirun.mpich" if self.abi == "ompi" else "mpirun.openmpi"
        if self.abi == "mpiabi" or not shutil.which(other):
            self.skipTest("no other MPI that is known not to fit")
        self.ready(shutil.which(other))
        self.agent.send("inspect", argv=[self.build()])
        self.assertIn("but the program is linked with", self.agent.expect("error")["message"])

    def test_mpi4py_is_recognised(self):
        if not self.python or not os.path.exists(self.python):
            self.skipTest("no Python with mpi4py over this MPI")
        self.ready(None)
        self.agent.send("inspect", argv=[self.python, "-m", "mpi4py"])
        found = self.agent.expect("program")
        self.assertEqual(found["abi"], self.abi)
        self.assertEqual(os.path.basename(found["stub"]), f"libisthmus-{self.stub}.so")

    def test_kill_leaves_no_rank(self):
        pids = self.sleepers()
        self.agent.send("kill")
        self.agent.until("exit")  # the status is the native launcher's choice: Hydra has said 0
        self.assertFalse(any(map(alive, pids)))

    def test_agent_killed_leaves_no_rank(self):
        pids = self.sleepers()
        self.agent.process.kill()
        self.assertTrue(wait_until(lambda: not any(map(alive, pids))))


@unittest.skipUnless(native("mpicc.openmpi", "mpirun.openmpi"), "Debian's Open MPI is absent")
class OpenMpi4(NativeMpi, AgentCase):
    compiler, mpirun = "mpicc.openmpi", "mpirun.openmpi"
    abi, stub, family = "ompi", "ompi-4.1", "Open MPI v4"


@unittest.skipUnless(native("mpicc.mpich", "mpirun.mpich"), "Debian's MPICH is absent")
class Mpich4(NativeMpi, AgentCase):
    compiler, mpirun = "mpicc.mpich", "mpirun.mpich"
    abi, stub, family = "mpich", "mpich-4.0", "MPICH Version: 4"


VENV = os.path.join(os.path.dirname(__file__), "../../.venv")


class InVenv(NativeMpi):
    mpirun = None

    @classmethod
    def setUpClass(cls):
        cls.prefix = os.path.realpath(os.path.join(VENV, cls.venv))
        cls.compiler = os.path.join(cls.prefix, "bin", cls.wrapper)
        if cls.wrapper == "mpicc":  # what the wheel of mpi4py prefers there
            cls.python = os.path.join(cls.prefix, "bin/python")
        if not os.path.exists(cls.compiler):
            raise unittest.SkipTest(f"{cls.compiler} is absent")
        super().setUpClass()


class OpenMpi5(InVenv, AgentCase):
    venv, wrapper = "openmpi", "mpicc"
    abi, stub, family = "ompi", "ompi-5.0", "Open MPI v5"


class Mpich5(InVenv, AgentCase):
    venv, wrapper = "mpich", "mpicc"
    abi, stub, family = "mpich", "mpich-5.0", "MPICH Version: 5"


class StandardAbi(InVenv, AgentCase):
    venv, wrapper = "mpich", "mpicc_abi"
    abi, stub, family = "mpiabi", "mpiabi-5.0", "MPICH Version: 5"


del NativeMpi, InVenv

if __name__ == "__main__":
    unittest.main()
