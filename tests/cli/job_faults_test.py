"""Ends of runs whose agents or ranks fail."""

import os
import re
import signal

import pytest
from running import shell_script
from scenarios import EXIT_0, PATIENT, RUNNING, check, exits, spawned
from waiting import with_enough_time

from isthmus.version import VERSION, WIRE


def test_status_of_the_first_that_fails(pair):
    done = pair(spawned(exits(status=3)), RUNNING).run("-n", "2", "x")
    check(done, 3, "cluster east: the program ended with status 3")


def test_signal_as_a_shell_reports_it(pair):
    done = pair(RUNNING, spawned(exits(status=139, signal=11))).run("-n", "2", "x")
    check(done, 139, "cluster west: the program was killed by signal 11 (SIGSEGV)")


@pytest.mark.parametrize(
    ("launch", "guess"), [("srun --exclusive", ", as by scancel"), ("mpirun", "")]
)
def test_srun_that_has_not_heard_why(grid, launch, guess):
    grid.cluster("east", f"launch = '{launch}'", **spawned(exits(status=143, signal=15)))
    grid.cluster("west", **RUNNING)
    done = grid.run("-n", "2", "x")
    said = f"cluster east: the program was killed by signal 15 (SIGTERM){guess}\n"
    check(done, 143, said)


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


@pytest.mark.parametrize("first", ["exit", "fault"])
def test_others_are_ended_while_a_launcher_has_yet_to_say_how_its_rank_died(pair, first):
    """They end by a grace of their own; its word is waited for until they have been, and longer."""
    said = 'rank 1 (cluster "west") ended without MPI_Finalize or was killed'
    fault = {"say": {"op": "fault", "message": said, "code": 1}}
    killed = exits(status=137, signal=9)
    told = {"kill": [{"usual": True}, {"mark": "ended"}]}
    spoken = [killed] if first == "exit" else [fault, {"wait_for": "east/ended"}, killed]
    west = spawned({"say": {"op": "joined", "cluster": "west", "ranks": 1}}, *spoken)
    grid = pair({**RUNNING, "on": told}, west)
    done = grid.run("-n", "2", "x", env={"ISTHMUS_GRACE": ""})
    who = 'rank 1 (cluster "west")' if first == "fault" else "cluster west: the program"
    check(done, 137, f"{who} was killed by signal 9 (SIGKILL)")
    assert ("grace" in grid.installs["east"].told("kill")) == (first == "fault")


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


@pytest.mark.parametrize("wire", [WIRE + 1, None])
def test_wire_protocols_that_differ(pair, wire):
    hello = {"version": "9.9", "commit": "0123456789ab", "wire": wire}
    done = pair(None, {"hello": hello}).run("-n", "2", "x")
    there = f"9.9, commit 0123456789ab, wire protocol {wire or 'unknown'}"
    check(done, 1, f"cluster west: Isthmus there is {there}, here it is ", "isthmus install")
    # The build's commit. The checkout may be further.
    assert re.search(rf"here it is {VERSION}, commit [\w-]+, wire protocol {WIRE}\n", done.stderr)
    assert done.stderr.count("isthmus: ") == 1


def test_builds_with_the_same_wire_protocol_run_together(pair):
    hello = {"version": "9.9", "commit": "0123456789ab"}
    done = pair(*[spawned(exits(joined=True, finalized=True)) | {"hello": hello}] * 2)
    assert done.run("-n", "2", "x").returncode == 0


def test_machines_that_differ(pair):
    machine = {"arch": "i686", "byteorder": "little", "long": 4, "long_double": "64/12"}
    done = pair(None, {"hello": {"machine": machine}}).run("-n", "2", "x")
    check(done, 1, "size of long is 8 in cluster east and 4 in cluster west")


def test_formats_that_differ_are_told_to_the_ranks(pair):
    machine = {"arch": "s390x", "byteorder": "big", "long": 8, "long_double": "113/16"}
    grid = pair(None, {"hello": {"machine": machine}})
    done = grid.run("-n", "2", "x")
    assert done.returncode == 0, done.stderr
    for install in grid.installs.values():
        east, west = install.told("link")["world"]["clusters"]
        keys = ("arch", "byteorder", "long_double")
        assert [east[key] for key in keys] == ["x86_64", "little", "64/16"]
        assert [west[key] for key in keys] == ["s390x", "big", "113/16"]


@pytest.mark.parametrize("net", ["ucx", "auto"])
def test_ucx_needs_one_byte_order(pair, net):
    machine = {"arch": "s390x", "byteorder": "big", "long": 8, "long_double": "113/16"}
    grid = pair(None, {"hello": {"machine": machine}})
    grid.extra = f'[[link]]\nbetween = ["east", "west"]\nnet = "{net}"\nencrypt = false'
    check(grid.run("-n", "2", "x"), 1, "byte orders of east and west differ", 'net = "tcp"')


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
    check(done, 1, "cluster east: the agent sent 'dance' unasked")


@pytest.mark.parametrize("moment", ["hello", "configure", "inspect", "link", "spawn"])
def test_agent_that_dies(pair, moment):
    last_words = [{"stderr": "out of memory"}, {"die": 3}]
    done = pair(RUNNING, {"on": {moment: last_words}}).run("-n", "2", "x")
    check(done, 1, "cluster west: the agent ended by itself with status 3\n  | out of memory")


def test_agent_that_is_killed(pair):
    done = pair(RUNNING, spawned({"kill_self": 9})).run("-n", "2", "x")
    check(done, 1, "cluster west: the agent was killed by SIGKILL")


def test_ssh_that_is_killed(grid, tmp_path):
    """It stands in for the agent only here: what happens there is not known."""
    ssh = shell_script(
        tmp_path / "ssh", 'while [ "$1" != -- ]; do shift; done\nshift 2\nexec sh -c "$*"'
    )
    grid.cluster("east", 'host = "there"', **spawned({"kill_self": 9}))
    done = grid.run("-n", "1", "x", env={"ISTHMUS_SSH": str(ssh)})
    check(done, 1, "cluster east on there: the ssh of this launcher was killed by SIGKILL")


def test_agent_that_dies_in_the_middle_of_a_payload(pair):
    raw = {"raw": '{"op": "output", "fd": 1, "n": 100}\nhalf'}
    done = pair(spawned(raw, {"die": 1}), RUNNING).run("-n", "2", "x")
    check(done, 1, "cluster east: the agent ended by itself")


def test_agent_that_never_says_hello(pair):
    grid = pair(None, {"on": {"hello": [{"raw": "Welcome to west!\n"}]}})

    def run(seconds):
        return grid.run("-n", "2", "x", env={"ISTHMUS_START_TIMEOUT": f"{seconds:g}"})

    done = with_enough_time(run, lambda done: "Welcome" in done.stderr)
    sentence = "cluster west: the agent did not start within "
    check(done, 1, sentence, "| Welcome to west!", "ISTHMUS_START_TIMEOUT")


def test_every_agent_that_does_not_start_is_named(pair):
    dies = {"on": {"hello": [{"stderr": "no such thing"}, {"die": 3}]}}
    done = pair(dies, dies).run("-n", "2", "x")
    check(done, 1, "cluster east: the agent ended by itself", "cluster west: the agent ended by")


def test_an_error_of_several_clusters_is_told_once(pair):
    def missing(cluster):
        said = f"'x' is not found on h (cluster {cluster})"
        return {"on": {"inspect": [{"say": {"op": "error", "message": said, "remedy": "Look."}}]}}

    done = pair(missing("east"), missing("west")).run("-n", "2", "x")
    assert (done.returncode, done.stderr) == (
        1,
        "isthmus: cluster east and cluster west: 'x' is not found on h\n  Look.\n",
    )


def test_different_errors_of_clusters_are_all_told(pair):
    def missing(program):
        said = f"'{program}' is not found"
        return {"on": {"inspect": [{"say": {"op": "error", "message": said}}]}}

    done = pair(missing("x"), missing("y")).run("-n", "2", "x")
    check(done, 1, "cluster east: 'x' is not found", "cluster west: 'y' is not found")


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


@pytest.mark.parametrize("ending", ["exec sleep 600", "exit 0", "exit 255"])
def test_ssh_that_never_answers_and_leaves_children(grid, tmp_path, ending):
    """The child holds the pipes; it outlives its parent, which may be gone or may not be."""
    ssh = tmp_path / "ssh"
    child = tmp_path / "child"
    ssh.write_text(
        f"#!/bin/sh\nsleep 600 &\necho $! >{child}.new; mv {child}.new {child}\n{ending}\n"
    )
    ssh.chmod(0o755)
    grid.cluster("east", 'host = "there"')

    def run(seconds):
        limits = {"ISTHMUS_START_TIMEOUT": f"{seconds:g}", "ISTHMUS_SSH": str(ssh)}
        return grid.run("-n", "1", "x", env=limits)

    done = with_enough_time(run, lambda _: child.exists())
    check(done, 1, "cluster east on there: ")
    os.kill(int(child.read_text()), signal.SIGKILL)


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


LOST = 'rank 1 (cluster "west") ended without MPI_Finalize or was killed on n2'
LOST_RANK = {"say": {"op": "fault", "message": LOST, "code": 1}}


def after_all_words_of(pair, *west):
    """A run that ends once west has said all this. East ends well then."""
    east = spawned({"wait_for": "west/said"}, exits())
    return pair(east, spawned(*west, {"mark": "said"})).run("-n", "2", "x", env=PATIENT)


@pytest.mark.parametrize("first", ["launcher", "rank"])
def test_a_killed_native_launcher_is_named_and_not_the_rank_that_ends_with_it(pair, first):
    killed = exits(status=137, signal=9, launcher="mpirun", died=LOST)
    west = [killed, LOST_RANK] if first == "launcher" else [LOST_RANK, killed]
    done = after_all_words_of(pair, *west)
    check(done, 137, "cluster west: the native launcher mpirun was killed by signal 9 (SIGKILL)")
    assert "rank 1" not in done.stderr


CRASH = "[proxy:0:1@n3] main (pm/pmip.c:1): assert (!closed) failed\n"
CRASHED = {"say": {"op": "output", "fd": 2}, "text": CRASH}


@pytest.mark.parametrize("first", ["exit", "fault"])
@pytest.mark.parametrize("died", [{}, {"died": LOST}], ids=["unknown", "known"])
def test_a_status_of_hydra_that_crashed_is_not_that_of_a_rank(pair, first, died):
    exit_ = [CRASHED, exits(status=255, finalized=False, **died)]
    west = [*exit_, LOST_RANK] if first == "exit" else [LOST_RANK, *exit_]
    check(after_all_words_of(pair, *west), 255, f"isthmus: {LOST}\n")


def test_hydra_that_crashed_over_a_rank_that_nobody_knows(pair):
    done = after_all_words_of(pair, CRASHED, exits(status=255, finalized=False))
    check(done, 255, "cluster west: a rank has failed, and Hydra crashed before it said how\n")


def test_the_end_of_another_cluster_is_not_that_of_the_rank(pair):
    said = 'rank 1 (cluster "west") ended without MPI_Finalize or was killed on n2'
    fault = {"say": {"op": "fault", "message": said, "code": 1}}
    east = spawned({"wait_for": "west/said"}, exits(status=137), {"mark": "ended"})
    west = spawned(fault, {"mark": "said"}, {"wait_for": "east/ended"}, exits(status=7))
    done = pair(east, west).run("-n", "2", "x", env=PATIENT)
    check(done, 7, 'rank 1 (cluster "west") ended without MPI_Finalize, with status 7, on n2')


def test_exit_without_finalize_names_rank_and_host(pair):
    said = 'rank 0 (cluster "east") ended without MPI_Finalize or was killed on n1'
    done = pair(spawned(exits(finalized=False, died=said)), RUNNING).run("-n", "2", "x")
    check(done, 1, 'rank 0 (cluster "east") ended without MPI_Finalize on n1, while the others')
