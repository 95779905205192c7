"""Agents by ssh, against a real sshd."""

from faulty import Grid, check

HERE_AND_THERE = "[cluster.here]\n[cluster.there]\nhost = 'site'\nprefix = '{prefix}'\n"


def test_nobody_listens(remote: Grid, prefix):
    remote.write(HERE_AND_THERE.format(prefix=prefix).replace("site", "refused"))
    done = remote.run("-g", "grid.toml", "-n", 2, "hostname")
    check(done, 1, "cluster there on refused: ssh could not connect", "Connection refused")


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
