"""The command `isthmus install`."""

import io
import platform
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from isthmus.base import completing
from isthmus.base.errors import JointError, RunError, UsageError, did_you_mean
from isthmus.base.options import grid_option
from isthmus.doctor.hosts import NotExaminedError, examine
from isthmus.grid import grid as grids
from isthmus.grid.reach import program_for
from isthmus.install import find_isthmusd
from isthmus.run.command import USUAL_PREFIX, remote_path, shell_at, try_reach
from isthmus.version import VERSION, WIRE, build_text, commit

_OTHER_MACHINE = 65  # exit statuses of the remote commands below
_CANNOT_WRITE = 66
_NEEDS = (
    "If Isthmus was installed here from a wheel, the host needs glibc 2.28 or newer. If it was "
    "built here, the host needs a C library that is not older, libstdc++, libssl.so.3, libfmt.so.9 "
    "and libzstd.so.1. Install the wheel here, or build Isthmus there (README.md, Installing)."
)


def install(
    hosts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[HOST]...",
            help="A host, as your ssh knows it. Or the name of a cluster, if -g is given.",
            autocompletion=completing.clusters_of_file,
            show_default=False,
        ),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="Folder on the hosts: an absolute path, or one below '~/'."
        ),
    ] = USUAL_PREFIX,
    file: Annotated[
        Path | None,
        grid_option(
            "Install on the hosts of a grid file, reached by 'host' or 'start', each below its own "
            "'prefix' if it has one. Without names, on all other hosts."
        ),
    ] = None,
) -> None:
    """Copy the parts that a cluster needs to other hosts, and check that they run there.

    The parts are bin/isthmusd, bin/isthmus-tcpbench and lib/isthmus of this installation. The hosts
    must be of the same kind as this one, and need no Python. If this installation comes from a
    wheel, they need glibc 2.28 or newer. Otherwise they need the libraries that it was built
    with."""
    targets = [(host, prefix) for host in hosts or []]
    if file:
        targets = _of_grid(file, hosts or [], prefix)
    if not targets:
        raise UsageError("no host is named", "Name hosts, or a grid file by -g.")
    parts = _archive(find_isthmusd())
    errors = []
    for host, folder in targets:
        try:
            print(f"{host}: {_install(host, folder, parts)}", flush=True)
        except RunError as error:
            errors.append(error)
    if errors:
        raise JointError(errors)
    if file:
        return
    if prefix.rstrip("/") == USUAL_PREFIX:
        print(f"Runs look for isthmusd on the PATH there, then in {USUAL_PREFIX}.")
    else:
        print(f'In the grid file:  prefix = "{prefix}"')


def _of_grid(file: Path, names: list[str], prefix: str) -> list[tuple[str, str]]:
    """The hosts of clusters, gateways and relays, each with its folder. UsageError for a name that
    is not a cluster."""
    grid = grids.load(file)
    if wrong := [name for name in names if name not in grid.cluster]:
        near = did_you_mean(wrong[0], grid.cluster)
        raise UsageError(f"{file} has no cluster '{wrong[0]}'{near}")
    clusters = [spec for name, spec in grid.cluster.items() if not names or name in names]
    found = {spec.host: spec.prefix or prefix for spec in clusters}
    for gateway in grid.gateway:
        home = grid.cluster[gateway.serves[0]]
        if home in clusters:
            found.setdefault(gateway.host or home.host, home.prefix or prefix)
    if not names:
        for relay in grid.relay:
            found.setdefault(relay.host, relay.prefix or prefix)
    targets = [(host, folder) for host, folder in found.items() if host]
    if not targets:
        raise UsageError(f"{file} names no other host for this", "Its clusters are on this host.")
    return targets


def _archive(isthmusd: Path) -> bytes:
    """bin/isthmusd, bin/isthmus-tcpbench and lib/isthmus as a compressed archive."""
    libraries = isthmusd.parent.parent / "lib" / "isthmus"
    if not libraries.is_dir():
        raise RunError(
            f"{isthmusd} belongs to a build tree, which cannot be copied",
            "Install Isthmus here first (README.md, Installing), or name an installation by "
            "ISTHMUS_PREFIX.",
        )
    tcpbench = isthmusd.with_name("isthmus-tcpbench")  # for the doctor, about links
    made = io.BytesIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as archive,
    ):
        whole = Path(folder)
        (whole / "bin").mkdir()
        (whole / "lib").mkdir()
        for program in (isthmusd, tcpbench):
            if program.is_file():
                shutil.copy2(program, whole / "bin")
        shutil.copytree(libraries, whole / "lib" / "isthmus")
        _strip([*whole.glob("bin/*"), *whole.glob("lib/isthmus/*.so")])
        for part in ("bin", "lib"):
            archive.add(whole / part, part)
    return made.getvalue()


def _strip(files: Sequence[Path]) -> None:
    """Removes what only debuggers read, three quarters of a build. Without binutils it stays."""
    if strip := shutil.which("strip"):
        subprocess.run([strip, "--strip-unneeded", *files], capture_output=True, check=False)


def _install(host: str, prefix: str, parts: bytes) -> str:
    """Installs on the host and returns the line to print. RunError if that fails."""
    place = remote_path(prefix)
    machine = platform.machine()
    script = (
        f'[ "$(uname -m)" = {machine} ] || {{ uname -m >&2; exit {_OTHER_MACHINE}; }}; '
        f"mkdir -p {place} && cd {place} && tar -xzf - --no-same-owner || exit {_CANNOT_WRITE}"
    )
    done = subprocess.run(shell_at(host, script), input=parts, capture_output=True, check=False)
    said = "".join(f"\n  | {line}" for line in done.stderr.decode(errors="replace").splitlines())
    if done.returncode == _OTHER_MACHINE:
        raise RunError(
            f"{host} has another kind of processor than this host ({machine}){said}",
            "Install Isthmus there (README.md, Installing), or install from a host of that kind.",
        )
    if done.returncode == _CANNOT_WRITE:
        raise RunError(
            f"{host}: Isthmus cannot be written to {prefix}{said}",
            "Name another folder by --prefix.",
        )
    if done.returncode != 0:
        raise RunError(
            f"{host}: {program_for(host)} could not connect{said}", try_reach(host, said)
        )
    try:
        facts = examine(host, prefix)
    except NotExaminedError as error:
        raise RunError(f"{host}: {error.sentence}", _NEEDS) from None
    if facts.wire != WIRE:
        found = build_text(facts.version, facts.commit, facts.wire)
        here = build_text(VERSION, commit(), WIRE)
        raise RunError(
            f"{host}: isthmusd there is {found}, here Isthmus is {here}",
            "Reinstall Isthmus here: its parts have different versions.",
        )
    mpi = facts.mpi.get("version") or "no MPI was found by default"
    return f"Isthmus {facts.version} in {prefix}; {mpi}"
