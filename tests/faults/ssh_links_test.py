"""Links by the user's ssh connections: frames go up one and down the other."""

import subprocess

import pytest
from faulty import Grid, Sshd, check
from running import ran

BY_SSH = (
    "[cluster.here]\nhost = '{one}'\nprefix = '{prefix}'\n"
    "[cluster.there]\nhost = '{other}'\nprefix = '{prefix}'\n"
    "[[link]]\nbetween = ['here', 'there']\nreach = 'ssh'\n"
)


@pytest.mark.parametrize("exchange", ["mpich"], indirect=True)
def test_messages_cross(remote: Grid, prefix, exchange):
    remote.write(BY_SSH.format(prefix=prefix, one="site", other="behind"))
    done = remote.run("-g", "grid.toml", "--stats", "-n", 4, exchange)
    assert done.returncode == 0, done.stderr
    assert "Authenticated" not in done.stderr


def test_one_end_is_here(remote: Grid, prefix, program):
    remote.write(BY_SSH.format(prefix=prefix, one="site", other="").replace("host = ''\n", ""))
    done = remote.run("-g", "grid.toml", "-n", 4, program("mpich"))
    assert (done.returncode, done.stdout) == (0, "up 4\n"), done.stderr


def test_a_shared_connection_keeps_no_port(remote: Grid, sshd: Sshd, prefix, program, tmp_path):
    """A connection that is shared outlives the run."""
    control = tmp_path / "control"
    ssh = [*sshd.ssh.split(), "-o", f"ControlPath={control}"]
    subprocess.run([*ssh, "-f", "-N", "-M", "site"], check=True, stderr=subprocess.DEVNULL)
    try:
        remote.environment["ISTHMUS_SSH"] = " ".join(ssh)
        remote.write(BY_SSH.format(prefix=prefix, one="site", other="").replace("host = ''\n", ""))
        for _ in range(2):
            done = remote.run("-g", "grid.toml", "-n", 2, program("ompi"))
            assert (done.returncode, done.stdout) == (0, "up 2\n"), done.stderr
    finally:
        subprocess.run([*ssh, "-O", "exit", "site"], check=True, capture_output=True)


def test_a_site_that_forbids_forwarding(remote: Grid, sshd: Sshd, prefix):
    key = sshd.config.with_name("authorized_keys")
    allowed = key.read_text()
    key.write_text(f"no-port-forwarding {allowed}")
    try:
        remote.write(BY_SSH.format(prefix=prefix, one="site", other="").replace("host = ''\n", ""))
        done = remote.run("-g", "grid.toml", "-n", 2, "hostname")
    finally:
        key.write_text(allowed)
    check(done, 1, "cluster here on site: ssh forwards no port from there", "AllowTcpForwarding")


def test_the_connection_dies(remote: Grid, prefix, program):
    remote.write(BY_SSH.format(prefix=prefix, one="site", other="").replace("host = ''\n", ""))
    check(remote.without_ssh(program("ompi")), None, "cluster here on site")


def test_doctor_joins_them(remote: Grid, prefix):
    remote.write(BY_SSH.format(prefix=prefix, one="site", other="behind"))
    command = [remote.command()[0], "-m", "isthmus", "doctor", "-g", "grid.toml"]
    done = ran(command, env=remote.environment, cwd=remote.folder)
    assert "2 links, authenticated, as for a run" in done.stdout, done.stdout + done.stderr
