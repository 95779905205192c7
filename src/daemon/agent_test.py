"""Runs the real isthmusd agent over pipes. ctest gives ISTHMUSD; native MPIs are used if found."""
# ruff: noqa: PT009, PTH101, PTH102, PTH107, PTH110, PTH116, PTH118, PTH119, PTH120, PTH123, PTH208
# unittest and os: CTest runs this with whatever Python the build has.

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from agent_client import DEADLINE, Agent

ISTHMUSD = os.environ["ISTHMUSD"]
VERSION = subprocess.run(
    [ISTHMUSD, "--version"], capture_output=True, text=True, check=True
).stdout.split()[1]
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
int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("rank %d of %d wears %s extra %s args %d\n", rank, size,
         getenv("LD_PRELOAD"), getenv("EXTRA"), argc);
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


class AgentTest(AgentCase):
    def test_hello_says_who_and_what(self):
        self.start()
        self.assertEqual(self.hello["version"], VERSION)
        self.assertEqual(self.hello["pid"], self.agent.process.pid)
        self.assertEqual(self.hello["machine"]["byteorder"], sys.byteorder)

    def test_end_leaves_nothing(self):
        self.ready()
        (folder,) = os.listdir(self.runtime)
        self.assertEqual(os.stat(os.path.join(self.runtime, folder)).st_mode & 0o777, 0o700)
        self.agent.send("end")
        self.assertEqual(self.agent.process.wait(DEADLINE), 0)
        self.assertEqual(os.listdir(self.runtime), [])

    def test_the_folder_of_a_killed_agent_goes_with_the_next(self):
        self.ready()
        killed = os.listdir(self.runtime)
        self.agent.process.kill()
        self.agent.process.wait()
        self.assertEqual(os.listdir(self.runtime), killed)
        self.ready()
        first = os.listdir(self.runtime)
        self.assertEqual(len(first), 1)
        self.assertNotEqual(first, killed)
        self.ready()  # the one before is alive
        self.assertEqual(len(os.listdir(self.runtime)), 2)

    def test_another_version_is_refused(self):
        self.start()
        reply = self.configure(version="0.0.1")
        self.assertEqual(reply["op"], "error")
        self.assertIn("0.0.1", reply["message"])
        self.assertIn(VERSION, reply["message"])

    def test_wrong_messages_are_named(self):
        self.start()
        for message, named in [
            ({"op": "dance"}, '"dance"'),
            ({"op": "inspect", "argv": ["x"]}, '"inspect"'),
            ({"op": "spawn"}, '"spawn"'),
            ({"op": "stdin"}, '"stdin"'),
            ({"op": "configure"}, "configure.version is missing"),
            ({"op": "configure", "version": 3}, "configure.version has a wrong type"),
            ({"op": "signal", "signal": "TERM"}, "signal.signal"),
        ]:
            self.agent.send(**message)
            self.assertIn(named, self.agent.expect("error")["message"])
        # Errors of requests leave the agent usable.
        self.assertEqual(self.configure(SINGLE)["op"], "configured")

    def test_the_secret_is_never_in_an_error(self):
        self.start()
        reply = self.configure(secret="topsecretx")
        self.assertIn("configure.secret", reply["message"])
        self.assertNotIn("topsecret", str(reply))

    def test_garbage_ends_the_agent_with_an_error(self):
        self.start()
        self.agent.raw(b"GET / HTTP/1.1\r\n\r\n")
        self.assertIn("GET / HTTP", self.agent.expect("error")["message"])
        self.assertEqual(self.agent.process.wait(DEADLINE), 1)

    def test_missing_programs(self):
        self.ready()
        plain = os.path.join(self.folder, "plain.txt")
        with open(plain, "w") as file:
            file.write("text\n")
        for argv, sentence in [
            (["no-such-program"], "'no-such-program' is not found on"),
            (["./no-such"], "'./no-such' is not found on"),
            (["./plain.txt"], "is not executable"),
            (["/tmp"], "is a directory"),
        ]:
            self.agent.send("inspect", argv=argv)
            reply = self.agent.expect("error")
            self.assertIn(sentence, reply["message"])
            self.assertIn("east", reply["message"])
        self.agent.send("inspect", argv=["plain.txt"])
        self.assertIn("./plain.txt", self.agent.expect("error")["remedy"])

    def test_missing_working_directory(self):
        self.start()
        self.assertIn("/no/where", self.configure(wdir="/no/where")["message"])

    def test_programs_without_mpi(self):
        self.ready()
        self.agent.send("inspect", argv=["echo", "x"])
        reply = self.agent.expect("program")
        self.assertEqual((reply["abi"], reply["library"]), (None, None))
        self.assertTrue(reply["path"].endswith("/echo"))

    def test_output_status_and_environment(self):
        self.ready(env={"EXTRA": "of the cluster"})
        script = "echo out $EXTRA $PART $ISTHMUS_CLUSTER; pwd; echo err >&2; exit 7"
        self.spawn((1, ["sh", "-c", script], {"PART": "of the part"}))
        exit_message, output = self.agent.until("exit")
        self.assertEqual(
            output[1].decode(), f"out of the cluster of the part east\n{self.folder}\n"
        )
        self.assertEqual(output[2], b"err\n")
        self.assertEqual((exit_message["status"], exit_message["signal"]), (7, None))
        self.assertFalse(exit_message["joined"])

    def test_ranks_of_several_parts_find_their_own(self):
        self.ready(LOOP)
        self.spawn(
            (2, ["sh", "-c", "echo a $PART"], {"PART": "1"}),
            (1, ["sh", "-c", "echo b $PART"], {"PART": "2"}),
        )
        _, output = self.agent.until("exit")
        self.assertEqual(sorted(output[1].split(b"\n")), [b"", b"a 1", b"a 1", b"b 2"])

    def test_srun(self):
        """A stand-in for Slurm's, which is known by its --version."""
        folder = os.path.join(self.folder, "slurm")
        os.mkdir(folder)
        with open(os.path.join(folder, "srun"), "w") as file:
            file.write(
                "#!/bin/sh\n"
                "[ $1 = --version ] && echo slurm 23.02.1 && exit\n"
                "[ $1 = -n ] || exit 9\n"
                "n=$2; shift 2; while [ $1 != ${1#--} ]; do shift; done\n"
                'for r in $(seq 0 $((n - 1))); do SLURM_PROCID=$r "$@" & done; wait\n'
            )
        os.chmod(os.path.join(folder, "srun"), 0o755)
        self.ready("srun", env={"PATH": f"{folder}:{os.environ['PATH']}"})
        self.agent.send("inspect", argv=["echo"])
        self.assertEqual(self.agent.expect("program")["launcher"], os.path.join(folder, "srun"))
        self.spawn((1, ["echo", "a b"], {}), (2, ["echo", "c"], {}), tag_output=True, first=3)
        _, output = self.agent.until("exit")
        self.assertEqual(sorted(output[1].splitlines()), [b"[3] a b", b"[4] c", b"[5] c"])

    def test_launchers_that_are_none(self):
        self.ready("cat")
        self.agent.send("inspect", argv=["echo"])
        self.assertIn("not a launcher", self.agent.expect("error")["message"])
        self.ready(None, mpi="/no/such/prefix")
        self.agent.send("inspect", argv=["echo"])
        self.assertIn("/no/such/prefix/bin", self.agent.expect("error")["message"])

    def test_internal_variables_do_not_reach_the_program(self):
        self.ready()
        self.spawn((1, ["env"], {"PART": "x"}), tag_output=True)
        _, output = self.agent.until("exit")
        for name in (b"ISTHMUS_PARTS", b"ISTHMUS_WDIR", b"ISTHMUS_TAG_OUTPUT"):
            self.assertNotIn(name, output[1])
        self.assertIn(b"ISTHMUS_SECRET=" + SECRET.encode(), output[1])

    def test_tagged_output(self):
        self.ready(LOOP)
        self.spawn((2, ["printf", "one\ntwo"], {}), first=40, tag_output=True)
        _, output = self.agent.until("exit")
        self.assertEqual(
            sorted(output[1].splitlines()), [b"[40] one", b"[40] two", b"[41] one", b"[41] two"]
        )

    def test_tagged_output_mirrors_how_the_program_ended(self):
        self.ready()
        self.spawn((1, ["sh", "-c", "kill -9 $$"], {}), tag_output=True)
        exit_message, _ = self.agent.until("exit")
        self.assertEqual((exit_message["status"], exit_message["signal"]), (137, 9))

    def test_missing_program_at_the_rank_is_127(self):
        self.ready(LOOP.replace("wait", "wait $!"))
        gone = os.path.join(self.folder, "gone")
        with open(gone, "w") as file:
            file.write("#!/bin/sh\n")
        os.chmod(gone, 0o755)
        self.agent.send("inspect", argv=[gone])
        self.agent.expect("program")
        os.remove(gone)
        self.spawn((1, [gone], {}))
        exit_message, output = self.agent.until("exit")
        self.assertEqual(exit_message["status"], 127)
        self.assertIn(b"not found", output[2])

    def test_standard_input(self):
        self.ready()
        self.spawn((1, ["wc", "-c"], {}), stdin=True)
        total = 0
        for size in (1, 70_000, 1 << 20, 5):
            self.agent.send("stdin", b"x" * size)
            total += size
        self.agent.send("stdin-eof")
        exit_message, output = self.agent.until("exit")
        self.assertEqual(output[1].split(), [str(total).encode()])
        self.assertEqual(exit_message["status"], 0)

    def test_without_stdin_the_program_reads_nothing(self):
        self.ready()
        self.spawn((1, ["cat"], {}))
        self.assertEqual(self.agent.until("exit")[0]["status"], 0)

    def test_much_output_arrives_whole(self):
        self.ready()
        self.spawn((1, ["head", "-c", "20000000", "/dev/zero"], {}))
        exit_message, output = self.agent.until("exit")
        self.assertEqual(len(output[1]), 20_000_000)
        self.assertEqual(exit_message["status"], 0)

    def test_signal_reaches_the_program(self):
        self.ready()
        self.spawn(
            (
                1,
                [
                    "sh",
                    "-c",
                    "trap 'echo caught; exit 5' USR1; echo go; while :; do sleep 0.05; done",
                ],
                {},
            )
        )
        while not self.agent.expect("output")["bytes"].startswith(b"go"):
            pass
        self.agent.send("signal", signal=int(signal.SIGUSR1))
        exit_message, output = self.agent.until("exit")
        self.assertEqual(exit_message["status"], 5)
        self.assertEqual(output[1], b"caught\n")

    STUBBORN = (
        "trap '' TERM; setsid sh -c \"trap '' TERM; echo $$; exec sleep 600\" & "
        "echo $$; wait; sleep 600"
    )

    def stubborn_pids(self):
        self.ready()
        self.spawn((1, ["sh", "-c", self.STUBBORN], {}))
        text = b""
        while text.count(b"\n") < 2:
            text += self.agent.expect("output")["bytes"]
        return [int(line) for line in text.split()]

    def test_kill_ends_even_the_stubborn(self):
        pids = self.stubborn_pids()
        self.agent.send("kill")
        exit_message, _ = self.agent.until("exit")
        self.assertEqual(exit_message["signal"], 9)
        self.assertFalse(any(map(alive, pids)))

    def test_end_of_input_ends_everything(self):
        pids = self.stubborn_pids()
        self.agent.process.stdin.close()
        self.assertEqual(self.agent.process.wait(DEADLINE), 0)
        self.assertFalse(any(map(alive, pids)))
        self.assertEqual(os.listdir(self.runtime), [])

    def test_sigterm_ends_everything(self):
        pids = self.stubborn_pids()
        self.agent.process.terminate()
        self.assertEqual(self.agent.process.wait(DEADLINE), 128 + signal.SIGTERM)
        self.assertFalse(any(map(alive, pids)))
        self.assertEqual(os.listdir(self.runtime), [])

    def test_orphans_of_the_launcher_are_ended(self):
        self.ready("sh -c '{command} & exit 0'")
        self.spawn((1, ["sh", "-c", "echo $$; exec sleep 600"], {}))
        exit_message, output = self.agent.until("exit")
        for pid in output[1].split():
            self.assertFalse(alive(int(pid)))
        self.assertEqual(exit_message["status"], 0)

    def test_unread_standard_input_does_not_keep_the_agent(self):
        self.ready()
        self.spawn((1, ["sleep", "600"], {}), stdin=True)
        os.set_blocking(self.agent.process.stdin.fileno(), False)
        sent = 0
        line = b'{"op":"stdin","n":65536}\n' + b"x" * 65536

        def full():
            nonlocal sent
            try:
                written = os.write(self.agent.process.stdin.fileno(), line[sent % len(line) :])
            except BlockingIOError:
                return True
            sent += written
            return False

        stalled = 0
        while stalled < 20:  # the agent reads on for a while, then no more
            stalled = stalled + 1 if full() else 0
            if stalled:
                time.sleep(0.05)
        self.assertLess(sent, 32 << 20)
        self.agent.process.stdin.close()
        self.assertEqual(self.agent.process.wait(DEADLINE), 0)

    def test_a_gateway_starts_no_programs(self):
        self.start("gateway")
        self.assertEqual(self.configure()["op"], "configured")
        self.agent.send("inspect", argv=["echo"])
        self.assertIn("gateway", self.agent.expect("error")["message"])


class GatewayTest(AgentCase):
    """Agents with gateways, linked to each other."""

    NODES = [FIRST_GATEWAY, FIRST_GATEWAY + 1]

    def open_gateways(self, secrets=(SECRET, SECRET)):
        self.agents, self.addresses = [], []
        for name, node, secret in zip(("east", "west"), self.NODES, secrets, strict=True):
            self.agents.append(self.start())
            reply = self.configure(
                SINGLE,
                cluster=name,
                secret=secret,
                gateways=[{"node": node, "listen": ["tcp:127.0.0.1:0"]}],
            )
            self.assertEqual(reply["op"], "configured", reply)
            (gateway,) = reply["gateways"]
            self.assertEqual(gateway["node"], node)
            self.addresses.append(gateway["addresses"])

    def link_gateways(self, target=None):
        gateways = [
            {"node": node, "cluster": i, "addresses": self.addresses[i]}
            for i, node in enumerate(self.NODES)
        ]
        world = {
            "clusters": [{"name": "east", "size": 1}, {"name": "west", "size": 1}],
            "gateways": gateways,
        }
        link = {
            "from": self.NODES[0],
            "to": self.NODES[1],
            "encrypt": True,
            "rate": None,
            "streams": None,
            "addresses": target or [self.addresses[1][-1]],
        }
        for i, agent in enumerate(self.agents):
            agent.send(
                "link",
                world=world,
                links=[] if i else [link],
                routes=[{"node": self.NODES[i], "next": {str(1 - i): self.NODES[1 - i]}}],
            )

    def test_addresses_are_a_private_socket_and_the_port_asked_for(self):
        self.open_gateways()
        unix, tcp = self.addresses[0]
        self.assertTrue(unix.startswith("unix:" + self.runtime), unix)
        self.assertTrue(os.path.exists(unix.removeprefix("unix:")))
        self.assertRegex(tcp, r"^tcp:127\.0\.0\.1:[1-9][0-9]*$")

    def test_link_run_count_and_end(self):
        self.open_gateways()
        self.link_gateways()
        for agent in self.agents:
            agent.expect("linked")
        for first, agent in enumerate(self.agents):
            agent.send(
                "spawn",
                parts=[{"n": 1, "argv": ["sh", "-c", "echo $ISTHMUS_WORLD"]}],
                first=first,
                size=1,
            )
        for agent in self.agents:
            agent.expect("spawned")
            exit_message, output = agent.until("exit")
            self.assertEqual(exit_message["status"], 0)
            self.assertFalse(exit_message["joined"])
            self.assertIn(self.addresses[0][0].encode(), output[1])
        for agent, node in zip(self.agents, self.NODES, strict=True):
            agent.send("stats")
            for link in agent.expect("stats")["links"]:
                self.assertEqual(link["from"], node)
                self.assertEqual(link["messages"], 0)
        for agent in self.agents:
            agent.send("end")
        for agent in self.agents:
            self.assertEqual(agent.process.wait(DEADLINE), 0)
        self.assertEqual(os.listdir(self.runtime), [])

    def test_a_wrong_secret_does_not_link(self):
        self.open_gateways(secrets=(SECRET, "ab" * 32))
        self.link_gateways()
        self.assertIn(self.addresses[1][-1], self.agents[0].expect("error")["message"])

    def test_an_unreachable_gateway_is_named(self):
        self.open_gateways()
        closed = "tcp:127.0.0.1:1"
        self.link_gateways([closed])
        self.assertIn(closed, self.agents[0].expect("error")["message"])

    def test_a_taken_port_is_named(self):
        self.open_gateways()
        taken = self.addresses[0][-1]
        self.start()
        reply = self.configure(gateways=[{"node": self.NODES[0], "listen": [taken]}])
        self.assertEqual(reply["op"], "error")
        self.assertIn(taken.removeprefix("tcp:"), reply["message"])

    def test_a_killed_agent_is_a_fault_for_the_other(self):
        self.open_gateways()
        self.link_gateways()
        for agent in self.agents:
            agent.expect("linked")
        self.agents[1].process.kill()
        self.assertIn("west", self.agents[0].expect("fault")["message"])


def native(compiler, launcher):
    return shutil.which(compiler) and shutil.which(launcher)


class NativeMpi:
    """With a real native MPI; `prefix` for those outside the system's folders."""

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
