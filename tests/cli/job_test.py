"""The life of a run against fake agents."""

import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

EXIT_0 = {"op": "exit", "status": 0, "signal": None, "joined": True, "finalized": True}
RUNNING = {"keep_running": True}


PATIENT = {"ISTHMUS_GRACE": "60"}  # until all have said what they have to say


def spawned(*actions):
    """A scenario in which the ranks were started and then `actions` happen."""
    return {"on": {"spawn": [{"say": {"op": "spawned"}}, *actions]}}


def test_normal_run(pair):
    grid = pair()
    done = grid.run("-n", "5", "prog", "arg")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == [f"rank {i}" for i in range(5)]
    east, west = grid.installs["east"], grid.installs["west"]
    assert [m["op"] for m in east.heard if m["op"] != "stdin-eof"] == [
        "configure", "inspect", "link", "spawn", "end",
    ]  # fmt: skip
    assert (east.told("spawn")["first"], east.told("spawn")["size"]) == (0, 3)
    assert (west.told("spawn")["first"], west.told("spawn")["size"]) == (3, 2)
    assert west.told("spawn")["parts"] == [
        {"n": 2, "argv": ["prog", "arg"], "env": {}, "appnum": 0, "mpi": None}
    ]
    assert east.told("spawn")["stdin"]
    assert not west.told("spawn")["stdin"]


def test_what_agents_are_told(pair):
    grid = pair()
    grid.extra = '[[link]]\nbetween = ["east", "west"]\nrate = "8 Gbit/s"\nstreams = 4\n'
    done = grid.run("-n", "2", "-x", "A=b", "--wdir", "/tmp", "--tag-output", "prog")
    assert done.returncode == 0, done.stderr
    east, west = grid.installs["east"], grid.installs["west"]
    assert len(bytes.fromhex(east.told("configure")["secret"])) == 32
    assert east.told("configure")["secret"] == west.told("configure")["secret"]
    assert east.told("configure")["cluster"] == "east"
    assert east.told("configure")["wdir"] == "/tmp"
    first, second = 0x8000_0000, 0x8000_0001
    assert east.told("configure")["gateways"] == [{"node": first, "listen": ["tcp:127.0.0.1:0"]}]
    assert east.told("link")["links"] == [
        {
            "from": first,
            "to": second,
            "addresses": ["tcp:127.0.0.1:9000"],
            "encrypt": True,
            "rate": 1e9,
            "rtt": None,
            "streams": 4,
            "patience": 600.0,
        }
    ]
    assert west.told("link")["links"] == []
    assert east.told("link")["routes"] == [{"node": first, "next": {"1": second}}]
    assert west.told("link")["routes"] == [{"node": second, "next": {"0": first}}]
    world = west.told("link")["world"]
    machine = {"arch": "x86_64", "long_double": "64/16"}  # as the agents said
    assert world["clusters"] == [
        {"name": "east", "size": 1, **machine},
        {"name": "west", "size": 1, **machine},
    ]
    assert world["gateways"] == [
        {"node": first, "cluster": 0, "addresses": []},
        {"node": second, "cluster": 1, "addresses": ["unix:/tmp/x", "tcp:127.0.0.1:9000"]},
    ]
    env = {"A": "b", "ISTHMUS_NETWORK": "wan-rate=8000.0M"}
    assert east.told("spawn")["parts"] == [
        {"n": 1, "argv": ["prog"], "env": env, "appnum": 0, "mpi": None}
    ]
    assert east.told("spawn")["tag_output"] is True


def test_secret_is_on_no_command_line_and_new_for_each_run(pair):
    grid = pair()
    secrets = set()
    for _ in range(2):
        assert grid.run("-n", "2", "prog").returncode == 0
        secrets.add(grid.installs["east"].told("configure")["secret"])
    assert len(secrets) == 2


def test_output_comes_out_unchanged(pair):
    out = {"say": {"op": "output", "fd": 1}, "text": "no end of line, \u00e9\0"}
    err = {"say": {"op": "output", "fd": 2}, "text": "to stderr\n"}
    done = pair(spawned(out, err, {"say": EXIT_0})).run("-n", "2", "x")
    assert done.returncode == 0
    assert done.stdout.replace("rank 1\n", "") == "no end of line, \u00e9\0"
    assert done.stderr == "to stderr\n"


def test_stdin_goes_to_rank_0(pair):
    text = "line\n" * 50_000
    done = pair({"echo": True, "keep_running": True}).run("-n", "2", "x", stdin=text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace("rank 1\n", "") == text


def test_stats(pair):
    done = pair().run("-n", "2", "--stats", "x")
    assert done.returncode == 0
    assert "east -> west" in done.stderr
    assert "2.048 kB" in done.stderr
    assert "east -> west" not in done.stdout


def test_verbose_tells_the_steps(pair):
    done = pair().run("-n", "2", "-v", "x")
    assert done.returncode == 0
    for words in ("cluster east: agent 0.", "gateway listens on", "Open MPI v4.1.4", "have joined"):
        assert words in done.stderr


def test_dry_run_starts_nothing(pair):
    grid = pair()
    done = grid.run("-n", "3", "--dry-run", "-x", "A=b c", "prog", "an arg")
    assert (done.returncode, done.stderr) == (0, "")
    for words in (
        "3 ranks on 2 clusters",
        "cluster east: ranks 0-1",
        "cluster west: rank 2",
        "2 x prog 'an arg'",
        "'A=b c'",
        "link east -> west: encrypted",
    ):
        assert words in done.stdout
    assert not (grid.installs["east"].home / "heard.jsonl").exists()


def test_one_cluster_is_a_world_too(pair):
    grid = pair()
    assert grid.run("-n", "1", "x").stdout == "rank 0\n"
    assert not (grid.installs["west"].home / "heard.jsonl").exists()
    east = grid.installs["east"]
    assert east.told("configure")["settings"] == {"alone": True}
    assert east.told("configure")["gateways"] == []


@pytest.mark.parametrize("status", [0, 3])
def test_one_cluster_ends_as_its_program_does(grid, status):
    ended = {"op": "exit", "status": status, "signal": None, "joined": False, "finalized": False}
    grid.cluster("east", **spawned({"say": ended}))
    grid.extra = '[[gateway]]\ncluster = "east"\nhost = "a.host.not.needed"\n'
    done = grid.run("-n", "2", "x")
    assert done.returncode == status
    said = f"isthmus: cluster east: the program ended with status {status}\n" if status else ""
    assert done.stderr == said


# ---- exit status and faults -----------------------------------------------------------------


def check(done, status, *words):
    """A sentence, said once, and nothing like a traceback."""
    assert done.returncode == status, done.stderr
    for word in words:
        assert done.stderr.count(word) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("isthmus: ")


def exits(**keys):
    return {"say": {**EXIT_0, **keys}}


def test_status_of_the_first_that_fails(pair):
    done = pair(spawned(exits(status=3)), RUNNING).run("-n", "2", "x")
    check(done, 3, "cluster east: the program ended with status 3")


def test_signal_as_a_shell_reports_it(pair):
    done = pair(RUNNING, spawned(exits(status=139, signal=11))).run("-n", "2", "x")
    check(done, 139, "cluster west: the program was killed by signal 11 (SIGSEGV)")


def test_others_are_killed(pair):
    grid = pair(spawned(exits(status=3)), RUNNING)
    grid.run("-n", "2", "x")
    assert [m["op"] for m in grid.installs["west"].heard][-2:] == ["kill", "end"]


def test_abort_is_told_once_and_outweighs_what_it_causes(pair):
    abort = {"say": {"op": "abort", "rank": 1, "code": 259, "message": ""}}
    fault = {"say": {"op": "fault", "message": "a rank vanished", "code": 1}}
    east = spawned(exits(status=9), fault, {"mark": "broken"})
    west = spawned({"wait_for": "east/broken"}, abort, exits(status=3))
    done = pair(east, west).run("-n", "2", "x", env=PATIENT)
    check(done, 3, "rank 1 called MPI_Abort with code 259")
    assert "vanished" not in done.stderr


def test_abort_with_code_0_is_no_success(pair):
    abort = {"say": {"op": "abort", "rank": 0, "code": 0, "message": "said why"}}
    done = pair(spawned(abort), RUNNING).run("-n", "2", "x")
    check(done, 1, "rank 0 called MPI_Abort with code 0: said why")


def test_fault_is_told_once(pair):
    fault = {"say": {"op": "fault", "message": "the link east - west is cut", "code": 7}}
    done = pair(spawned(fault, fault), spawned(fault)).run("-n", "2", "x")
    check(done, 7, "the link east - west is cut")


def test_warnings_are_told_and_the_job_goes_on(pair):
    lost = {"say": {"op": "notice", "message": "the link 0 - 0 is lost", "warning": True}}
    knock = {"say": {"op": "notice", "message": "10.1.1.1: wrong secret", "warning": False}}
    grid = pair(spawned(knock, lost, exits()), spawned(exits()))
    done = grid.run("-n", "2", "x")
    assert (done.returncode, done.stderr) == (
        0,
        "isthmus: warning: cluster east: the link 0 - 0 is lost\n",
    )
    assert "10.1.1.1: wrong secret" in grid.run("-v", "-n", "2", "x").stderr


def test_a_silent_link_is_told_of_and_the_job_goes_on(pair):
    link = {"op": "silence", "from": 0x80000000, "to": 0x80000001, "patience": 600}
    turns = [{"seconds": 30.1, "over": False}, {"seconds": 47, "over": True}]
    east = [{"say": {**link, **turn}} for turn in turns]
    done = pair(spawned(*east, {"say": EXIT_0}), spawned({"say": EXIT_0})).run("-n", "2", "x")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "isthmus: link east - west: silent for 30 s, waiting (patience 10 min)",
        "isthmus: link east - west: heard again after 47 s",
    ]


def test_fault_because_of_a_rank_has_the_status_of_the_rank(pair):
    fault = {"say": {"op": "fault", "message": "rank 1 was killed", "code": 1}}
    east = spawned(fault, exits(status=1), {"mark": "broken"})
    west = spawned({"wait_for": "east/broken"}, exits(status=137))
    check(pair(east, west).run("-n", "2", "x", env=PATIENT), 137, "rank 1 was killed")


def test_exit_without_finalize(pair):
    done = pair(spawned(exits(finalized=False)), RUNNING).run("-n", "2", "x")
    check(done, 1, "cluster east: a rank ended without MPI_Finalize")


def test_exit_without_init_while_others_wait(pair):
    joined = {"say": {"op": "joined", "ranks": 1}}
    east = spawned(exits(joined=False), {"mark": "gone"})
    done = pair(east, spawned({"wait_for": "east/gone"}, joined)).run("-n", "2", "x")
    check(done, 1, "cluster east: the program ended without MPI_Init", "cluster west has called")


def test_programs_that_never_join(pair):
    done = pair(*[spawned(exits(joined=False, finalized=False))] * 2).run("-n", "2", "x")
    check(done, 1, "the program ended without MPI_Init in every cluster")


@pytest.mark.parametrize("op", ["configure", "inspect", "link", "spawn"])
def test_error_answers(pair, op):
    refused = {"say": {"op": "error", "message": "no such thing on host", "remedy": "Look again."}}
    done = pair(None, {"on": {op: [refused]}}).run("-n", "2", "x")
    check(done, 1, "cluster west: no such thing on host\n  Look again.")


def test_versions_that_differ(pair):
    done = pair(None, {"hello": {"version": "9.9"}}).run("-n", "2", "x")
    check(done, 1, "cluster west: Isthmus there is version 9.9, here it is")


def test_machines_that_differ(pair):
    machine = {"arch": "s390x", "byteorder": "big", "long": 8, "long_double": "113/16"}
    done = pair(None, {"hello": {"machine": machine}}).run("-n", "2", "x")
    check(done, 1, "byte order is little in cluster east and big in cluster west")


def test_long_double_that_differs_is_told_to_the_ranks(pair):
    machine = {"arch": "aarch64", "byteorder": "little", "long": 8, "long_double": "113/16"}
    grid = pair(None, {"hello": {"machine": machine}})
    done = grid.run("-n", "2", "x")
    assert done.returncode == 0, done.stderr
    for install in grid.installs.values():
        east, west = install.told("link")["world"]["clusters"]
        assert (east["arch"], east["long_double"]) == ("x86_64", "64/16")
        assert (west["arch"], west["long_double"]) == ("aarch64", "113/16")


@pytest.mark.parametrize("moment", ["configure", "link", "spawn"])
@pytest.mark.parametrize(
    ("garbage", "words"),
    [
        ("hello\n", "not JSON: 'hello'"),
        ('{"up": 1}\n', "a message without 'op'"),
        ("[]\n", "a message without 'op'"),
        ('{"op": "output", "fd": 1, "n": -4}\n', "'output' announces -4 bytes"),
        ('{"op": "output", "fd": 1, "n": 1e99}\n', "'output' announces 1e+99 bytes"),
        ('{"op": "output", "fd": 1, "n": 99999999999}\n', "'output' announces 99999999999 bytes"),
        ("x" * (1 << 21), "a line of more than 1048576 bytes"),
        ("[" * 100_000 + "\n", "not JSON"),
    ],
)
def test_garbage(pair, garbage, words, moment):
    done = pair({"on": {moment: [{"raw": garbage}, {"sleep": 20}]}}).run("-n", "2", "x")
    check(done, 1, f"cluster east: the agent broke the protocol: {words}")


def test_unknown_op(pair):
    done = pair(spawned({"say": {"op": "dance"}}), RUNNING).run("-n", "2", "x")
    check(done, 1, "cluster east: the agent said 'dance', unasked")


@pytest.mark.parametrize("moment", ["hello", "configure", "inspect", "link", "spawn"])
def test_agent_that_dies(pair, moment):
    last_words = [{"stderr": "out of memory"}, {"die": 3}]
    done = pair(RUNNING, {"on": {moment: last_words}}).run("-n", "2", "x")
    check(done, 1, "cluster west: the agent ended by itself with status 3\n  | out of memory")


def test_agent_that_is_killed(pair):
    done = pair(RUNNING, spawned({"kill_self": 9})).run("-n", "2", "x")
    check(done, 1, "cluster west: the agent was killed by SIGKILL")


def test_agent_that_dies_in_the_middle_of_a_payload(pair):
    raw = {"raw": '{"op": "output", "fd": 1, "n": 100}\nhalf'}
    done = pair(spawned(raw, {"die": 1}), RUNNING).run("-n", "2", "x")
    check(done, 1, "cluster east: the agent ended by itself")


def test_agent_that_never_says_hello(pair):
    grid = pair(None, {"on": {"hello": [{"raw": "Welcome to west!\n"}]}})
    done = grid.run("-n", "2", "x", env={"ISTHMUS_START_TIMEOUT": "1"})
    sentence = "cluster west: the agent did not start within 1 s"
    check(done, 1, sentence, "| Welcome to west!", "ISTHMUS_START_TIMEOUT")


def test_every_agent_that_does_not_start_is_named(pair):
    dies = {"on": {"hello": [{"stderr": "no such thing"}, {"die": 3}]}}
    done = pair(dies, dies).run("-n", "2", "x")
    check(done, 1, "cluster east: the agent ended by itself", "cluster west: the agent ended by")


def test_every_program_that_is_not_there_is_named(pair):
    missing = {"say": {"op": "error", "message": '"x" is not found.', "remedy": "Look."}}
    done = pair(*[{"on": {"inspect": [missing]}}] * 2).run("-n", "2", "x")
    check(done, 1, 'cluster east: "x" is not found', 'cluster west: "x" is not found')


def test_an_mpi_is_named_in_one_line(pair):
    program = {
        "say": {
            "op": "program",
            "path": "/x",
            "launcher": "/usr/bin/mpiexec",
            "mpi_version": "MPICH Version:\t4.0.2\nMPICH Device: ch4\nconfigure: --a --b\n",
        }
    }
    done = pair(*[{"on": {"inspect": [program]}}] * 2).run("-n", "2", "-v", "x")
    assert (
        "cluster east: /x uses MPICH Version: 4.0.2, started by /usr/bin/mpiexec\n" in done.stderr
    )
    assert "configure" not in done.stderr


@pytest.mark.parametrize("ending", ["sleep 600", "exit 0", "exit 255"])
def test_ssh_that_never_answers_and_leaves_children(grid, tmp_path, ending):
    """The child holds the pipes; it outlives its parent, which may be gone or may not be."""
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/child\n{ending}\n")
    ssh.chmod(0o755)
    grid.cluster("east", 'host = "there"')
    done = grid.run("-n", "1", "x", env={"ISTHMUS_START_TIMEOUT": "1", "ISTHMUS_SSH": str(ssh)})
    check(done, 1, "cluster east on there: ")
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


def test_greeting_of_a_login_shell_does_no_harm(pair):
    hello = [{"raw": "Welcome to west!\n[motd]\n"}, {"usual": True}]
    done = pair(None, {"on": {"hello": hello}}).run("-n", "2", "x")
    assert (done.returncode, done.stderr) == (0, "")


def test_agent_that_cannot_be_started(grid):
    install = grid.cluster("east")
    (install.home / "bin" / "isthmusd").unlink()
    check(grid.run("-n", "1", "x"), 1, "cluster east: cannot start", "No such file or directory")


def test_all_agents_end_when_one_fails(pair):
    grid = pair(RUNNING, {"on": {"spawn": [{"die": 3}]}})
    grid.run("-n", "2", "x")
    assert [m["op"] for m in grid.installs["east"].heard][-2:] == ["kill", "end"]


# ---- time and signals -----------------------------------------------------------------------


def test_timeout(pair):
    grid = pair(RUNNING, RUNNING)
    check(grid.run("-n", "2", "--timeout", "1", "x"), 124, "the time limit of 1 s has passed")
    assert "kill" in [m["op"] for m in grid.installs["west"].heard]


def test_timeout_holds_while_agents_start(pair):
    grid = pair(None, {"on": {"hello": [{"sleep": 30}]}})
    check(grid.run("-n", "2", "--timeout", "1", "x"), 124, "the time limit of 1 s has passed")


def test_wait_for_ranks_that_never_come(pair):
    joined = {"say": {"op": "joined", "ranks": 3}}
    grid = pair({**spawned(joined), "count": 3}, {**RUNNING, "count": 2})
    done = grid.run("-n", "6", "--wait", "1", "x")
    check(done, 124, "after 1 s, cluster west is not complete yet: 2 of 3 ranks have joined, and")
    assert "east" not in done.stderr
    assert "kill" in [m["op"] for m in grid.installs["west"].heard]


def test_who_is_missing_is_told_even_where_agents_are_silent(pair):
    done = pair(RUNNING, {**RUNNING, "on": {"count": [{"sleep": 20}]}}).run(
        *("-n", "2", "--wait", "0.5", "x")
    )
    check(done, 124, "cluster east has not started yet", "cluster west has not started yet: 0 of 1")


def test_wait_is_over_when_all_have_joined(pair):
    joined = {"say": {"op": "joined", "ranks": 1}}
    late = spawned(joined, {"sleep": 1}, exits())
    done = pair(late, late).run("-n", "2", "--wait", "0.5", "x")
    assert (done.returncode, done.stderr) == (0, "")


def started(grid, **keys):
    """A run whose ranks are up."""
    running = subprocess.Popen(
        grid.command("-n", "2", "x"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **keys,
    )
    assert running.stdout.readline() == "up\n"
    return running


UP = spawned({"say": {"op": "output", "fd": 1}, "text": "up\n"})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_everything(pair, number):
    grid = pair(UP, RUNNING)
    with started(grid) as running:
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (128 + number, "")
    assert err == f"isthmus: {number.name}: ended everything\n"
    for install in grid.installs.values():
        assert "kill" in [m["op"] for m in install.heard]


def test_second_interrupt_does_not_wait(pair):
    grid = pair({**UP, "on": {**UP["on"], "kill": [{"sleep": 600}]}}, RUNNING)
    with started(grid) as running:
        running.send_signal(signal.SIGINT)
        while "kill" not in (grid.installs["east"].home / "heard.jsonl").read_text():
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        assert running.returncode == 130
    os.kill(grid.installs["east"].pid, signal.SIGKILL)


def state(pid):
    """As ps shows it: T is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_ctrl_z_stops_all_and_fg_continues(pair):
    def heard(name):
        return (grid.installs[name].home / "heard.jsonl").read_text()

    grid = pair(UP, {**RUNNING, "on": {"pause": []}})  # west never says that it has stopped
    with started(grid, preexec_fn=os.setpgrp) as running:
        for count in (1, 2):
            running.send_signal(signal.SIGTSTP)
            wait_until(lambda: state(running.pid) == "T")
            for name in ("east", "west"):
                assert heard(name).count('"pause"') == count
                assert heard(name).count('"resume"') == count - 1
            running.send_signal(signal.SIGCONT)
            wait_until(lambda n=count: all(heard(m).count('"resume"') == n for m in grid.installs))
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert running.returncode == 130


def test_usr1_is_passed_on(pair):
    grid = pair(UP, RUNNING)
    with started(grid) as running:
        running.send_signal(signal.SIGUSR1)
        while "signal" not in (grid.installs["west"].home / "heard.jsonl").read_text():
            time.sleep(0.01)
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
    assert grid.installs["west"].told("signal")["signal"] == signal.SIGUSR1


def test_reader_of_the_output_goes_away(pair):
    flood = [{"say": {"op": "output", "fd": 1}, "text": "y\n" * 1000}] * 200
    grid = pair({**spawned(*flood)}, RUNNING)
    command = shlex.join(grid.command("-n", "2", "x"))
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (141, "y\n", "")
