"""Faults before the first rank runs."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from faulty import Grid, check, wrapped
from ports import free_port
from running import shell_script

from isthmus.install import find_isthmusd
from isthmus.version import WIRE

TWO = "[cluster.east]\n[cluster.west]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[cluster.east]\nslotz = 4\n", ["grid.toml:2", "cluster.east.slotz", "'slots'"]),
        (
            "[[gateway]]\nhost = 'x'\n[cluster.a]\n",
            ["grid.toml:1", "gateway[0].cluster is missing"],
        ),
        (TWO + "[[link]]\nbetween = ['east', 'north']\n", ["grid.toml:4", "'north'"]),
    ],
)
def test_wrong_grid_file(grid: Grid, text, words):
    grid.write(text)
    check(grid.run("-g", "grid.toml", "-n", 2, "hostname"), 2, *words)


def test_unknown_cluster(grid: Grid):
    check(grid.run("--on", "wset", "-n", 2, "hostname"), 2, "--on wset", "did you mean 'west'?")


def test_program_that_is_not_there(grid: Grid):
    done = grid.run("--on", "east", "-n", 1, "hostname", ":", "--on", "west", "nosuchprogram")
    check(done, 1, "cluster west", "nosuchprogram", "not found")


def test_program_on_the_path_only_of_the_user(grid: Grid):
    check(grid.run("-n", 2, "./hostname"), 1, "./hostname", "not found")


def test_directory_that_is_not_there(grid: Grid):
    check(grid.run("-n", 2, "--wdir", "/no/such/place", "hostname"), 1, "/no/such/place")


def test_program_without_mpi(grid: Grid):
    check(grid.run("-n", 2, "true"), 1, "without MPI_Init")


def test_program_with_mpi_only_in_one_cluster(grid: Grid, program):
    done = grid.run("--on", "east", "true", ":", "--on", "west", "-n", 2, program("ompi"), "fine")
    check(done, 1, "cluster east", "without MPI_Init")


def test_mpi_library_that_is_missing(grid: Grid, program, tmp_path):
    broken = tmp_path / "broken"
    data = program("mpich").read_bytes()
    assert b"libmpich.so.12" in data
    broken.write_bytes(data.replace(b"libmpich.so.12", b"libmpi.so.12\0\0"))
    broken.chmod(0o755)
    check(grid.run("-n", 2, broken), 1, "libmpi.so.12", "not found")


def test_statically_linked(grid: Grid, tmp_path):
    source = tmp_path / "x.c"
    source.write_text("int MPI_Init(void) { return 0; }\nint main(void) { return MPI_Init(); }\n")
    subprocess.run(["cc", "-static", str(source), "-o", str(tmp_path / "x")], check=True)
    check(grid.run("-n", 2, tmp_path / "x"), 1, "statically linked")


def test_mpi_prefix_that_is_not_there(grid: Grid):
    grid.write("[cluster.east]\nmpi = '/opt/no/mpi'\n")
    check(grid.run("-g", "grid.toml", "-n", 2, "hostname"), 1, "cluster east", "/opt/no/mpi")


def test_launcher_that_does_not_work(grid: Grid, tmp_path):
    srun = shell_script(
        tmp_path / "srun",
        "echo 'srun: fatal: Could not establish a configuration source' >&2\nexit 1",
    )
    grid.write(f"[cluster.east]\nlaunch = '{srun}'\n[cluster.west]\n")
    done = grid.run("-g", "grid.toml", "-n", 2, "hostname")
    check(
        done, 1, "cluster east", f"{srun} --version' failed", "configuration source", "slurm.conf"
    )


def test_gateway_port_taken(grid: Grid):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        where = f"127.0.0.1:{holder.getsockname()[1]}"
        grid.write(f"{TWO}[[gateway]]\ncluster = 'west'\naddress = '{where}'\n")
        check(grid.run("-g", "grid.toml", "-n", 2, "hostname"), 1, "cluster west", where)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("192.0.2.77:0", ["this host has no such address", "'listen' in [[gateway]]"]),
        ("no-such-host.invalid", ["name is not known", "'listen' in [[gateway]]"]),
    ],
)
def test_gateway_where_nothing_can_listen(grid: Grid, address, words):
    grid.write(f"{TWO}[[gateway]]\ncluster = 'west'\naddress = '{address}'\n")
    done = grid.run("-g", "grid.toml", "-n", 2, "hostname")
    check(done, 1, "cluster west", f"cannot listen on tcp:{address.partition(':')[0]}", *words)
    assert "free port" not in done.stderr


def test_gateway_address_unreachable(grid: Grid):
    where = f"127.0.0.1:{free_port()}"
    text = f"{TWO}[[gateway]]\ncluster = 'west'\naddress = '{where}'\nlisten = '127.0.0.1'\n"
    grid.write(text + "[[link]]\nbetween = ['east', 'west']\nrtt = '1 ms'\n")  # of a network
    check(grid.run("-g", "grid.toml", "-n", 2, "hostname"), 1, "cluster east", where)


def test_isthmusd_that_is_not_there(grid: Grid):
    grid.write("[cluster.east]\nprefix = '/no/such/prefix'\n")
    done = grid.run("-g", "grid.toml", "-n", 2, "hostname")
    check(done, 1, "cluster east", "/no/such/prefix/bin/isthmusd")


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_hosts_that_do_not_resolve(grid: Grid, mpi):
    """Hydra would wait for them without end."""
    grid.write(f"[cluster.east]\nmpi = '{mpi}'\nhosts = 'no[1-2].invalid'\n[cluster.west]\n")
    done = grid.run("-g", "grid.toml", "-n", 3, "hostname")
    check(done, 1, "cluster east: its launcher cannot start ranks: there is no host 'no", "'hosts'")


def test_a_launch_template_whose_program_is_not_there(grid: Grid):
    grid.write("[cluster.east]\nlaunch = '/no/such/mpirun -n {n} {command}'\n")
    done = grid.run("-g", "grid.toml", "-n", 2, "hostname")
    check(done, 1, "launcher '/no/such/mpirun' is not found", "launch key")


@pytest.mark.parametrize("wire", ["same", "other"])
def test_two_builds(grid: Grid, program, tmp_path, wire):
    """They work together if their wire protocols have the same number."""
    changes = """s/"version":"[^"]*"/"version":"0.0.1"/; s/"commit":"[^"]*"/"commit":"012345"/"""
    changes += f"""; s/"wire":[0-9]*/"wire":{WIRE + 1}/""" if wire == "other" else ""
    other = wrapped(tmp_path / "other", f"""exec "{find_isthmusd()}" "$@" | sed -u '{changes}'""")
    grid.write(f"[cluster.east]\n[cluster.west]\nprefix = '{other}'\n")
    done = grid.run("-g", "grid.toml", "-n", 2, program("ompi"))
    if wire == "same":
        assert done.returncode == 0, done.stderr
        return
    there = f"Isthmus there is 0.0.1, commit 012345, wire protocol {WIRE + 1}, here it is"
    check(done, 1, "cluster west", there, "prefix")
    assert done.stderr.count("isthmus: ") == 1


def test_wrong_secret(grid: Grid, tmp_path):
    other = wrapped(
        tmp_path / "other",
        f"""sed -u 's/"secret":"......../"secret":"00000000/' | "{find_isthmusd()}" "$@" """,
    )
    grid.write(f"[cluster.east]\n[cluster.west]\nprefix = '{other}'\n")
    done = grid.run("-g", "grid.toml", "-n", 2, "hostname")
    check(done, 1, "cluster east", "secret")


def installed_at(prefix: Path, grid: Grid) -> None:
    """An Isthmus at `prefix`, and a grid of two clusters that use it."""
    libdir = Path(os.environ.get("ISTHMUS_LIBDIR") or Path(sys.prefix) / "lib" / "isthmus")
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(find_isthmusd(), prefix / "bin" / "isthmusd")
    (prefix / "lib").mkdir()
    (prefix / "lib" / "isthmus").symlink_to(libdir)
    grid.write("".join(f"[cluster.{c}]\nprefix = '{prefix}'\n" for c in ("east", "west")))
    grid.environment.pop("ISTHMUS_LIBDIR", None)


# LD_PRELOAD is split at both.
@pytest.mark.parametrize("name", ["with blank", "with:colon"])
@pytest.mark.parametrize("mpi", ["ompi", "mpich"])
def test_installed_below_a_blank_or_colon(grid: Grid, program, tmp_path, mpi, name):
    installed_at(tmp_path / name, grid)
    done = grid.run("-g", "grid.toml", "-n", 2, program(mpi), "fine")
    assert (done.returncode, done.stdout) == (0, "up 2\n"), done.stderr


def test_no_folder_without_a_blank(grid: Grid, program, tmp_path):
    installed_at(tmp_path / "with blank", grid)
    with tempfile.TemporaryDirectory(prefix="a b", dir="/tmp") as private:
        grid.environment["XDG_RUNTIME_DIR"] = private
        done = grid.run("-g", "grid.toml", "-n", 2, program("mpich"), "fine")
    check(done, 1, "with a blank or a colon in its name", "LD_PRELOAD", "XDG_RUNTIME_DIR")


@pytest.mark.parametrize("mpi", ["ompi", "mpich"])
def test_hosts_and_wishes_on_the_command_line(grid: Grid, program, mpi):
    """Two names of this host are two clusters; each native launcher takes the wishes."""
    here = socket.gethostname()
    for bind, by in (("core", "node"), ("socket", "core"), ("none", "socket")):
        wishes = ("--bind-to", bind, "--map-by", by)
        done = grid.run("-H", f"localhost:2,{here}:1", *wishes, program(mpi))
        assert done.returncode == 0, done.stderr
        assert done.stdout == "up 3\n"


def test_a_template_takes_no_wishes(grid: Grid):
    grid.write("[cluster.east]\nlaunch = 'env PMI_RANK=0 {command}'\n")
    done = grid.run("-g", "grid.toml", "-n", 1, "--bind-to", "core", "true")
    check(done, 1, "cannot be passed to the launch template", "'launch'")
