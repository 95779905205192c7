"""The command `isthmus install`."""

import io
import platform
import subprocess
import tarfile
from pathlib import Path
from typing import Annotated

import typer

from isthmus.command import USUAL_PREFIX, remote_path, ssh_command, try_ssh
from isthmus.doctor.hosts import NotExaminedError, examine
from isthmus.errors import JointError, RunError
from isthmus.install import find_isthmusd
from isthmus.version import VERSION

_OTHER_MACHINE = 65  # exit statuses of the remote commands below
_CANNOT_WRITE = 66
_NEEDS = (
    "If Isthmus was installed here from a wheel, the host needs glibc 2.28 or newer. If it was "
    "built here, the host needs a C library that is not older, libstdc++, libssl.so.3, libfmt.so.9 "
    "and libzstd.so.1. Install the wheel here, or build Isthmus there (README.md, Installing)."
)


def install(
    hosts: Annotated[
        list[str],
        typer.Argument(metavar="HOST...", help="A host, as your ssh knows it.", show_default=False),
    ],
    prefix: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="Folder on the hosts: an absolute path, or one below '~/'."
        ),
    ] = USUAL_PREFIX,
) -> None:
    """Copy the parts that a cluster needs to hosts by ssh, and check that they run there.

    The parts are bin/isthmusd and lib/isthmus of this installation. The hosts must be of the same
    kind as this one, and need no Python. If this installation comes from a wheel, they need glibc
    2.28 or newer. Otherwise they need the libraries that it was built with."""
    parts = _archive(find_isthmusd())
    errors = []
    for host in hosts:
        try:
            print(f"{host}: {_install(host, prefix, parts)}", flush=True)
        except RunError as error:
            errors.append(error)
    if errors:
        raise JointError(errors)
    if prefix.rstrip("/") == USUAL_PREFIX:
        print(f"Runs look for isthmusd on the PATH there, then in {USUAL_PREFIX}.")
    else:
        print(f'In the grid file:  prefix = "{prefix}"')


def _archive(isthmusd: Path) -> bytes:
    """bin/isthmusd and lib/isthmus as a compressed archive."""
    libraries = isthmusd.parent.parent / "lib" / "isthmus"
    if not libraries.is_dir():
        raise RunError(
            f"{isthmusd} belongs to a build tree, which cannot be copied",
            "Install Isthmus here first (README.md, Installing), or name an installation by "
            "ISTHMUS_PREFIX.",
        )
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1, dereference=True) as archive:
        archive.add(isthmusd, "bin/isthmusd")
        archive.add(libraries, "lib/isthmus")
    return made.getvalue()


def _install(host: str, prefix: str, parts: bytes) -> str:
    """Installs on the host and returns the line to print. RunError if that fails."""
    place = remote_path(prefix)
    machine = platform.machine()
    script = (
        f'[ "$(uname -m)" = {machine} ] || {{ uname -m >&2; exit {_OTHER_MACHINE}; }}; '
        f"mkdir -p {place} && cd {place} && tar -xzf - --no-same-owner || exit {_CANNOT_WRITE}"
    )
    done = subprocess.run(
        [*ssh_command(), host, script], input=parts, capture_output=True, check=False
    )
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
        raise RunError(f"{host}: ssh could not connect{said}", try_ssh(host))
    try:
        facts = examine(host, prefix)
    except NotExaminedError as error:
        raise RunError(f"{host}: {error.sentence}", _NEEDS) from None
    if facts.version != VERSION:
        raise RunError(
            f"{host}: isthmusd there is version {facts.version}, here it is {VERSION}",
            "Reinstall Isthmus here: its parts have different versions.",
        )
    mpi = facts.mpi.get("version") or "no MPI was found by default"
    return f"Isthmus {facts.version} in {prefix}; {mpi}"
