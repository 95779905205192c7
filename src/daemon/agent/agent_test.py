"""One isthmusd agent: what it is asked, what it answers, what it starts."""
# ruff: noqa: PT009, PTH101, PTH102, PTH107, PTH116, PTH118, PTH120, PTH123, PTH208
# unittest and os: CTest runs this with whatever Python the build has.

import hashlib
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from agent_case import ISTHMUSD, LOOP, SECRET, SINGLE, VERSION, WIRE, AgentCase, alive, wait_until
from agent_client import DEADLINE, Agent


class AgentTest(AgentCase):
    def test_hello_says_who_and_what(self):
        self.start()
        self.assertEqual(self.hello["version"], VERSION)
        self.assertEqual(self.hello["wire"], WIRE)
        self.assertRegex(self.hello["commit"], r"^([0-9a-f]{7,40}(-dirty)?|unknown)$")
        self.assertEqual(self.hello["pid"], self.agent.process.pid)
        self.assertEqual(self.hello["machine"]["byteorder"], sys.byteorder)

    def hides_its_memory(self, **env):
        """Hidden files in /proc belong to root. So root starts the agent as another user, from a
        folder that this user can reach."""
        nobody = 65534 if os.geteuid() == 0 else None
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            agent = shutil.copy(ISTHMUSD, folder)
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            process = subprocess.Popen([agent, "agent"], **pipes, user=nobody, env=env)
            with process:
                self.assertIn(b"hello", process.stdout.readline())
                owner = os.stat(f"/proc/{process.pid}/environ").st_uid
                process.stdin.close()
        return owner == 0

    def test_its_memory_is_hidden(self):
        self.assertTrue(self.hides_its_memory())
        self.assertFalse(self.hides_its_memory(ISTHMUS_DEBUG_MEMORY="1"))

    def test_end_leaves_nothing(self):
        self.ready()
        (folder,) = os.listdir(self.runtime)
        self.assertEqual(os.stat(os.path.join(self.runtime, folder)).st_mode & 0o777, 0o700)
        self.agent.send("end")
        self.assertEqual(self.agent.process.wait(DEADLINE), 0)
        self.assertEqual(os.listdir(self.runtime), [])

    def test_each_byte_of_a_slow_message_shows_that_the_launcher_is_there(self):
        self.ready()
        agent = self.agent
        agent.send("alive", patience=3)
        agent.raw(b'{"op": "clock", "text": "')
        end = time.monotonic() + 4.5
        while time.monotonic() < end:
            agent.raw(b"x")
            time.sleep(0.1)
        agent.raw(b'"}\n')
        agent.expect("clock")

    def test_a_killed_agent_leaves_nothing(self):
        for mode in ("agent", "gateway"):
            self.start(mode, TMPDIR=self.runtime)
            self.configure(settings={"trace": "all", "gather_traces": True})
            self.assertEqual(len(os.listdir(self.runtime)), 2)
            self.agent.process.kill()
            self.assertTrue(wait_until(lambda: not os.listdir(self.runtime)))

    def test_the_folder_of_an_agent_killed_with_its_sweeper_goes_with_the_next(self):
        self.ready()
        killed = os.listdir(self.runtime)
        swept = os.path.join(self.runtime, killed[0])
        kill = ["pkill", "-KILL", "-f", f"isthmus-sweep {swept}$"]
        self.assertTrue(wait_until(lambda: subprocess.run(kill, check=False).returncode == 0))
        self.agent.process.kill()
        self.agent.process.wait()
        self.assertEqual(os.listdir(self.runtime), killed)
        self.ready()
        first = os.listdir(self.runtime)
        self.assertEqual(len(first), 1)
        self.assertNotEqual(first, killed)
        self.ready()  # the one before is alive
        self.assertEqual(len(os.listdir(self.runtime)), 2)

    def alone_with_read_only_tmp(self, tmpdir):
        """An agent that is configured in the folder `tmpdir`."""
        alone = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
        mount = "mount -t tmpfs -o ro tmpfs /tmp"
        if ISTHMUSD.startswith("/tmp/") or subprocess.run([*alone, mount], check=False).returncode:
            self.skipTest("/tmp cannot be made read-only for a test")
        program = os.path.join(self.folder, "alone")
        with open(program, "w") as file:
            words = [*alone, f"{mount} && exec {ISTHMUSD} agent"]
            file.write(f"#!/bin/sh\nexec {shlex.join(words)}\n")
        os.chmod(program, 0o755)
        self.agent = Agent(program, env={"XDG_RUNTIME_DIR": "", "TMPDIR": tmpdir})
        self.addCleanup(self.agent.close)
        self.agent.expect("hello")
        answer = self.configure(wdir="/var/tmp")
        self.assertEqual(answer["op"], "configured", answer)

    def test_no_umask_shuts_it_out(self):
        self.addCleanup(os.umask, os.umask(0o777))
        self.ready()
        (folder,) = os.listdir(self.runtime)
        path = os.path.join(self.runtime, folder)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(os.path.join(path, "lock")).st_mode & 0o777, 0o600)

    def test_its_folder_is_in_tmpdir_where_nothing_else_can_be_written(self):
        other = tempfile.mkdtemp(prefix="irt-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, other)
        self.alone_with_read_only_tmp(other)
        self.assertEqual(len(os.listdir(other)), 1)

    def test_its_folder_is_in_shared_memory_where_tmpdir_is_missing_too(self):
        def folders():
            return {name for name in os.listdir("/dev/shm") if name.startswith("isthmus-")}

        before = folders()
        self.alone_with_read_only_tmp("/nowhere")
        self.assertNotEqual(folders() - before, set())

    def test_it_may_open_more_files_than_the_ranks(self):
        """A gateway needs a descriptor for each rank; programs keep the limit of the user."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        if soft == hard:
            soft = hard - 1
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.ready()
        with open(f"/proc/{self.agent.process.pid}/limits") as file:
            (line,) = (line for line in file if line.startswith("Max open files"))
        self.assertEqual(line.split()[3:5], [str(hard), str(hard)])
        self.spawn((1, ["/bin/sh", "-c", "ulimit -Sn; ulimit -Hn"], {}))
        _, output = self.agent.until("exit")
        self.assertEqual(output[1], f"{soft}\n{hard}\n".encode())

    def test_another_wire_protocol_is_refused(self):
        self.start()
        for other in ({"wire": WIRE + 1}, {"wire": None}):
            reply = self.configure(version="0.0.1", **other)
            self.assertEqual(reply["op"], "error")
            self.assertIn("0.0.1", reply["message"])
            self.assertIn(f"{VERSION} with wire protocol {WIRE}", reply["message"])

    def test_another_version_with_the_same_wire_protocol_is_served(self):
        self.start()
        self.assertEqual(self.configure(SINGLE, version="0.0.1")["op"], "configured")

    def test_wrong_messages_are_named(self):
        self.start()
        for message, named in [
            ({"op": "dance"}, "'dance'"),
            ({"op": "inspect", "argv": ["x"]}, "'inspect'"),
            ({"op": "spawn"}, "'spawn'"),
            ({"op": "stdin"}, "'stdin'"),
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

    def test_files_are_staged(self):
        self.ready()
        data = bytes(range(256)) * 4096
        keys = {
            "path": "staged/input",
            "mode": 0o640,
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        place = os.path.join(self.folder, "staged", "input")
        self.addCleanup(shutil.rmtree, os.path.dirname(place), ignore_errors=True)
        self.agent.send("stage", **keys)
        self.assertTrue(self.agent.expect("stage")["wanted"])
        self.agent.send("stage-data", data[:1000])
        self.agent.send("stage-data", data[1000:])
        self.agent.send("stage-end")
        self.assertEqual(self.agent.expect("staged")["path"], place)
        with open(place, "rb") as file:
            self.assertEqual(file.read(), data)
        self.agent.send("stage", **keys)
        self.assertFalse(self.agent.expect("stage")["wanted"])
        self.agent.send("stage", **{**keys, "sha256": "0" * 64})
        self.agent.expect("stage")
        self.agent.send("stage-data", data)
        self.agent.send("stage-end")
        self.assertIn("damaged: ", self.agent.expect("error")["message"])
        self.agent.send("stage", **{**keys, "path": "../input"})
        self.assertIn("outside of the working directory", self.agent.expect("error")["message"])
        self.agent.send("stage-end")
        self.assertIn("came before", self.agent.expect("error")["message"])

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

    def test_a_look_finds_the_ranks_that_run_here(self):
        self.ready(launch=LOOP)
        self.spawn((2, ["/bin/sh", "-c", "echo up; sleep 600; :"], {}))
        said = b""
        while said.count(b"up") < 2:
            said += self.agent.receive()["bytes"]
        self.agent.send("look", processes=True)
        processes = self.agent.until("look")[0]["processes"]
        self.assertEqual(sorted(each["rank"] for each in processes), [0, 1])
        for each in processes:
            self.assertTrue(alive(each["pid"]))
            self.assertEqual(each["program"], "/bin/sh -c echo up; sleep 600; :")
        self.agent.send("look")
        self.assertNotIn("processes", self.agent.expect("look"))

    def test_traces_are_fetched_and_removed(self):
        temporary = os.path.join(self.runtime, "tmp")
        os.mkdir(temporary)
        self.start(TMPDIR=temporary)
        settings = {"trace": "link", "gather_traces": True}
        self.assertNotIn("trace", self.configure(LOOP, settings=settings))
        write = 'echo "$ISTHMUS_TRACE_GATHERED" > "$ISTHMUS_TRACE_DIR/rank-$ISTHMUS_RANK.trace"'
        self.spawn((2, ["/bin/sh", "-c", write], {}))
        self.agent.until("exit")
        self.agent.send("traces")
        files = {file["name"]: file["size"] for file in self.agent.expect("traces")["files"]}
        self.assertEqual(len(files), 3)
        for name in ("rank-0.trace", "rank-1.trace"):
            self.assertEqual(files[name], 2)
            for offset, rest in ((0, b"1\n"), (1, b"\n"), (2, b"")):
                self.agent.send("trace", name=name, offset=offset)
                self.assertEqual(self.agent.expect("trace")["bytes"], rest)
        self.agent.send("trace", name="../lock", offset=0)
        self.assertIn("no trace", self.agent.expect("error")["message"])
        self.agent.send("clock")
        self.assertLess(abs(self.agent.expect("clock")["time"] - time.time_ns()), 60e9)
        self.agent.send("end")
        self.assertEqual(self.agent.process.wait(DEADLINE), 0)
        self.assertEqual(os.listdir(temporary), [])

    def test_a_gateway_starts_no_programs(self):
        self.start("gateway")
        self.assertEqual(self.configure()["op"], "configured")
        self.agent.send("inspect", argv=["echo"])
        self.assertIn("gateway", self.agent.expect("error")["message"])


if __name__ == "__main__":
    unittest.main()
