"""Agents by ssh, against a real sshd."""

import os
import re
import signal
from pathlib import Path

import pytest
from faulty import Grid, check, says
from running import shell_script
from waiting import eventually

HERE_AND_THERE = "[cluster.here]\n[cluster.there]\nhost = 'site'\nprefix = '{prefix}'\n"


def test_nobody_listens(remote: Grid, prefix):
    remote.write(HERE_AND_THERE.format(prefix=prefix).replace("site", "refused"))
    done = remote.run("-g", "grid.toml", "-n", 2, "hostname")
    check(done, 1, "cluster there on refused: ssh could not connect", "Connection refused")
    assert re.search(r"Try: ssh -F \S+ refused true\..*ProxyJump", done.stderr)


def test_key_that_is_not_known(remote: Grid, prefix):
    remote.write(HERE_AND_THERE.format(prefix=prefix).replace("site", "stranger"))
    done = remote.run("-g", "grid.toml", "-n", 2, "hostname")
    check(done, 1, "cluster there on stranger: ssh could not connect", "Permission denied")


def test_host_that_does_not_exist(remote: Grid, prefix):
    remote.write(HERE_AND_THERE.format(prefix=prefix).replace("site", "no-such-host.invalid"))
    check(remote.run("-g", "grid.toml", "-n", 2, "hostname"), 1, "ssh could not connect")


def test_not_installed_there(remote: Grid):
    remote.write(HERE_AND_THERE.format(prefix="/no/such/prefix"))
    done = remote.run("-g", "grid.toml", "-n", 2, "hostname")
    check(done, 1, "cluster there on site: isthmusd could not be started there", "'prefix'")


def test_ssh_that_does_not_exist(remote: Grid, prefix):
    remote.environment["ISTHMUS_SSH"] = "/no/such/ssh"
    remote.write(HERE_AND_THERE.format(prefix=prefix))
    check(remote.run("-g", "grid.toml", "-n", 2, "hostname"), 1, "/no/such/ssh")


def test_program_that_is_not_there(remote: Grid, prefix):
    remote.write(HERE_AND_THERE.format(prefix=prefix))
    done = remote.run("-g", "grid.toml", "-n", 2, "nosuchprogram")
    check(done, 1, "nosuchprogram", "not found")


# ---- while ranks run ------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["site", "behind"])
def test_run_over_ssh(remote: Grid, prefix, program, host):
    remote.write(HERE_AND_THERE.format(prefix=prefix).replace("site", host))
    done = remote.run("-g", "grid.toml", "-n", 4, program("ompi"))
    assert (done.returncode, done.stdout) == (0, "up 4\n"), done.stderr


def test_relative_program_in_the_same_directory(remote: Grid, prefix, program):
    (remote.folder / "app").symlink_to(program("mpich"))
    remote.write(HERE_AND_THERE.format(prefix=prefix))
    done = remote.run("-g", "grid.toml", "-n", 2, "./app")
    assert (done.returncode, done.stdout) == (0, "up 2\n"), done.stderr


def test_names_that_are_not_utf8(remote: Grid, prefix, program):
    """The working directory, a staged file and an argument have such names."""
    remote.write(HERE_AND_THERE.format(prefix=prefix))
    name = os.fsdecode(b"t\xe9 t")
    remote.folder = remote.folder / name
    remote.folder.mkdir()
    shell_script(remote.folder / name, f'echo "$1" | od -An -tx1 >&2\nexec {program("mpich")}')
    words = ("-g", remote.file, "-n", 2, "--mpi", "mpich", "--stage", name)
    done = remote.run(*words, f"./{name}", os.fsdecode(b"\xff\xc3\xa9"))
    assert (done.returncode, done.stdout) == (0, "up 2\n"), done.stderr
    assert done.stderr == " ff c3 a9 0a\n" * 2


def test_gateway_on_a_host_of_its_own(remote: Grid, prefix, program):
    gateway = "[[gateway]]\ncluster = 'here'\nhost = 'site'\n"
    remote.write(f"[cluster.here]\nprefix = '{prefix}'\n[cluster.there]\n{gateway}")
    done = remote.run("-g", "grid.toml", "-n", 4, program("ompi"))
    assert (done.returncode, done.stdout) == (0, "up 4\n"), done.stderr


def test_ssh_cut(remote: Grid, prefix, program):
    remote.write(HERE_AND_THERE.format(prefix=prefix))
    check(remote.without_ssh(program("ompi")), None, "cluster there on site")


def test_interrupt_over_ssh(remote: Grid, prefix, program):
    remote.write(HERE_AND_THERE.format(prefix=prefix))
    with remote.start("-g", "grid.toml", "-n", 4, program("ompi"), "hang", -1) as running:
        says(running, "up 4\n")
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=240)
    assert (running.returncode, err) == (130, "isthmus: SIGINT: ended everything\n")


def test_a_setup_that_hangs_ends_with_the_run(remote: Grid, prefix):
    child = remote.folder / "child"
    hanging = f"sleep 600 & echo $! > {child}; wait"
    remote.write(HERE_AND_THERE.format(prefix=prefix) + f"setup = ['{hanging}']\n")
    with remote.start("-g", "grid.toml", "-n", 4, "/bin/true") as running:
        eventually(lambda: child.exists() and child.read_text().endswith("\n"), "its child")
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=240)
    assert (running.returncode, err) == (130, "isthmus: SIGINT: ended everything\n")
    number = child.read_text().strip()
    eventually(lambda: not Path("/proc", number).exists(), "the end of what the setup has started")
