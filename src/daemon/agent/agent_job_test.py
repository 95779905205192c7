"""The native job of one isthmusd agent: its input and output, signals, and its end."""
# ruff: noqa: PT009, PTH101, PTH118, PTH120, PTH123, PTH208
# unittest and os: CTest runs this with whatever Python the build has.

import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from agent_case import SINGLE, AgentCase, alive, wait_until
from agent_client import DEADLINE


class AgentJobTest(AgentCase):
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

    def test_a_launcher_that_waits_after_it_failed_to_start_ranks(self):
        """A stand-in for Hydra. Its ssh ends, and it does not notice."""
        hydra = os.path.join(self.folder, "hydra")
        with open(hydra, "w") as file:
            file.write(
                "#!/bin/sh\n"
                '[ "$1" = --version ] && echo HYDRA build details: && exit\n'
                "(exit 3) &\n"
                "exec sleep 600\n"
            )
        os.chmod(hydra, 0o755)
        self.ready(hydra)
        self.spawn((1, ["true"], {}))

        def failed():
            self.agent.send("count")
            return self.agent.expect("count").get("failed")

        self.assertTrue(wait_until(failed))
        self.assertEqual(failed(), {"program": "hydra", "launcher": "hydra", "status": 3})

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

    def test_pause_stops_the_ranks_and_resume_continues_them(self):
        def state():
            with open(f"/proc/{pid}/stat") as stat:
                return stat.read().rpartition(")")[2].split()[0]

        self.ready()
        self.spawn((1, ["sh", "-c", "echo $$; read line; echo $line"], {}), stdin=True)
        pid = int(self.agent.expect("output")["bytes"])
        self.agent.send("pause")
        self.agent.expect("paused")
        self.assertTrue(wait_until(lambda: state() == "T"))
        self.agent.send("stdin", b"later\n")
        self.agent.send("resume")
        exit_message, output = self.agent.until("exit")
        self.assertEqual((exit_message["status"], output[1]), (0, b"later\n"))

    def test_what_is_stopped_is_killed_too(self):
        self.ready()
        self.spawn((1, ["sh", "-c", "echo $$; exec sleep 600"], {}))
        pid = int(self.agent.expect("output")["bytes"])
        self.agent.send("pause")
        self.agent.expect("paused")
        self.agent.send("kill")
        self.agent.until("exit")
        self.assertFalse(alive(pid))

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

    def test_what_tidies_up_after_a_rank_may_finish(self):
        mark = os.path.join(self.folder, "tidied")
        self.ready(SINGLE)
        tidying = f"env -i sh -c 'echo begun > {mark}; sleep 0.3; echo done > {mark}'"
        rank = f"{tidying} > /dev/null 2>&1 & until [ -s {mark} ]; do sleep 0.01; done"
        self.spawn((1, ["sh", "-c", rank], {}))
        self.agent.until("exit")
        with open(mark) as file:
            self.assertEqual(file.read(), "done\n")

    def test_a_rank_that_its_launcher_forgets_is_asked_to_end(self):
        self.ready("sh -c 'trap : TERM; PMI_RANK=0 {command} & wait; wait; wait'")
        asked = "trap 'echo asked; exit 0' TERM; echo here; while :; do sleep 0.05; done"
        self.spawn((1, ["sh", "-c", asked], {}))
        self.assertEqual(self.agent.expect("output")["bytes"], b"here\n")
        self.agent.send("kill")
        self.assertEqual(self.agent.until("exit")[1][1], b"asked\n")

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


if __name__ == "__main__":
    unittest.main()
