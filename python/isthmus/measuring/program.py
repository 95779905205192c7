"""Measuring programs over MPI: C sources that each MPI's own mpicc compiles where they run, on
first use."""

import hashlib
import re
import shlex
import subprocess
from pathlib import Path

from isthmus.base.errors import RunError
from isthmus.run.command import shell_at

P2P = Path(__file__).with_name("p2p.c")
_LIMIT = 120  # seconds
_NO_COMPILER = 127

# $1 is mpicc, $2 names the source, which is on standard input.
_SCRIPT = r"""
case $1 in "~/"*) set -- "$HOME/${1#\~/}" "$2" ;; esac
mpicc=$(command -v "$1") || exit 127
folder=${XDG_CACHE_HOME:-$HOME/.cache}/isthmus/bench
mkdir -p "$folder" || exit 1
with=$( { echo "$mpicc"; ls -lL "$mpicc"; "$mpicc" -show; } 2>&1 | cksum | tr ' ' - )
program=$folder/$2-$with
if [ -x "$program" ]; then cat >/dev/null; else
  cat >"$program.$$.c" && "$mpicc" -O2 "$program.$$.c" -o "$program.$$" -lm >&2
  status=$?
  rm -f "$program.$$.c"
  [ $status -eq 0 ] && mv "$program.$$" "$program" || exit 3
fi
echo "$program"
"""


def whole(file: Path) -> str:
    """The source with the headers beside it included, each once: it travels to the compiler
    alone."""
    seen: set[str] = set()

    def text(path: Path) -> str:
        def header(found: re.Match[str]) -> str:
            if found[1] in seen:
                return ""
            seen.add(found[1])
            return text(path.with_name(found[1]))

        return re.sub(r'^#include "(.+)"$', header, path.read_text(), flags=re.MULTILINE)

    return text(file)


def prepare(mpicc: str, host: str | None = None, file: Path = P2P) -> str:
    """The path of the program on `host` (an ssh target; None: here). `mpicc` compiles it unless it
    did so before. RunError says what is missing, or what the compiler said."""
    source = whole(file).encode()
    name = f"{file.stem}-{hashlib.sha256(source).hexdigest()[:12]}"
    command = ["/bin/sh", "-c", _SCRIPT, "sh", mpicc, name]
    where = "this host" if host is None else host
    if host is not None:
        command = shell_at(host, shlex.join(command))
    try:
        done = subprocess.run(
            command, input=source, capture_output=True, timeout=_LIMIT, check=False
        )
    except OSError as error:
        raise RunError(f"cannot start {command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise RunError(f"compiling the benchmark on {where} took more than {_LIMIT} s") from None
    if done.returncode == _NO_COMPILER:
        raise RunError(
            f"{where} has no MPI compiler '{mpicc}' to compile the benchmark",
            "Install it (on Debian: libopenmpi-dev or libmpich-dev), or name the MPI's folder: "
            "--native of `isthmus bench`, the cluster's 'mpi' key in a grid file.",
        )
    path = done.stdout.decode(errors="replace").strip().splitlines()
    if done.returncode != 0 or not path:
        said = done.stderr.decode(errors="replace").strip()[-2000:]
        raise RunError(
            f"'{mpicc}' on {where} could not compile the benchmark (exit status "
            f"{done.returncode})" + "".join(f"\n  | {line}" for line in said.splitlines())
        )
    return path[-1]
