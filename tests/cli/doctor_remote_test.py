"""`isthmus doctor` of clusters that are reached by ssh, here a real sshd."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from doctors import Doctor
from faulty import Sshd
from running import shell_script

from isthmus.install import find_isthmusd


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with Sshd(tmp_path_factory.mktemp("sshd")) as made:
        yield made


@pytest.fixture
def doctor(tmp_path: Path) -> Doctor:
    return Doctor(tmp_path)


HERE_AND = "[cluster.here]\nprefix = '{prefix}'\n[cluster.there]\nhost = '{host}'\n"


@pytest.fixture
def remote(doctor: Doctor, sshd: Sshd) -> Doctor:
    doctor.env["ISTHMUS_SSH"] = sshd.ssh
    return doctor


def wrapped(folder: Path) -> Path:
    """A prefix with bin/ of programs that are elsewhere, as in a checkout."""
    from isthmus.measuring.ends import find_tcpbench  # noqa: PLC0415

    (folder / "bin").mkdir(parents=True, exist_ok=True)
    for program in (find_isthmusd(), find_tcpbench()):
        shell_script(folder / "bin" / program.name, f'exec "{program}" "$@"')
    return folder


def test_a_whole_grid_over_ssh(remote, tmp_path):
    there = wrapped(tmp_path / "there")
    gateways = "".join(
        f"[[gateway]]\ncluster = '{name}'\naddress = '127.0.0.1'\n" for name in ("here", "there")
    )
    grid = HERE_AND.format(prefix=there, host="site") + f"prefix = '{there}'\n" + gateways
    grid += "[[link]]\nbetween = ['here', 'there']\nstreams = 2\n"  # so not by memory
    assert remote(grid) == 0, remote.findings
    assert remote.level("cluster there on site", "ssh") == "ok"
    assert remote.level("cluster there on site", "clock") == "ok"
    assert remote.level("gateways", "joined") == "ok"
    assert remote.level("link", "port") == "ok"


@pytest.mark.parametrize("host", ["refused", "stranger", "no-such-host.invalid"])
def test_host_that_is_not_reached(remote, sshd, tmp_path, host):
    there = wrapped(tmp_path / "there")
    assert remote(HERE_AND.format(prefix=there, host=host)) == 1
    found = remote.of(f"cluster there on {host}", "ssh")
    assert found["level"] == "fail"
    assert "ssh could not connect" in found["text"]
    remedy = "Correct the name" if "such" in host else f"{sshd.ssh} {host} true"
    assert remedy in found["remedy"]
    assert remote.level("cluster here", "Isthmus") == "ok"
    remote.finds("link", "port", "not tried")


def test_isthmus_that_is_not_installed_there(remote, tmp_path):
    here = wrapped(tmp_path / "here")
    grid = HERE_AND.format(prefix=here, host="site") + "prefix = '/no/such/prefix'\n"
    assert remote(grid) == 1
    remote.finds("cluster there on site", "Isthmus", level="fail", remedy="'prefix'")


def test_another_version_there(remote, tmp_path):
    here = wrapped(tmp_path / "here")
    other = wrapped(tmp_path / "other")
    script = other / "bin" / "isthmusd"
    script.write_text(
        '#!/bin/sh\n[ "$1" = examine ] || exit 9\n'
        'printf \'%s\\n\' \'{"version": "0.0.1", "wire": 1, "host": "old", "mpi": {}}\'\n'
    )
    grid = HERE_AND.format(prefix=here, host="site") + f"prefix = '{other}'\n"
    assert remote(grid) == 1
    remote.finds(
        "cluster there on site",
        "Isthmus",
        "0.0.1, commit unknown, wire protocol 1",
        level="fail",
        remedy="same version",
    )


def test_clusters_that_see_other_files(doctor, tmp_path):
    """One of them by ssh, in a folder that is mounted there alone."""
    ssh = tmp_path / "ssh"
    mounted = 'mount -t tmpfs none /mnt && eval "$last"'
    ssh.write_text(
        f"#!/bin/sh\nfor last; do :; done\nexport last\nexec unshare -m sh -c '{mounted}'\n"
    )
    ssh.chmod(0o755)
    doctor.env["ISTHMUS_SSH"] = str(ssh)
    there = wrapped(tmp_path / "there")
    grid = "files = 'west'\n[cluster.east]\nwdir = '/mnt'\n[cluster.west]\nhost = 'here'\n"
    doctor(f"{grid}prefix = '{there}'\nwdir = '/mnt'\n")
    text = doctor.of("east - west", "files")["text"]
    assert text == "not shared: files that both open come from west"
    assert not list(Path("/mnt").glob(".isthmus-*"))
