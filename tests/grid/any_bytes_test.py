"""Arguments, variables and names of files reach the ranks as the bytes that they are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import mpis
import pytest
from running import ran

# The first process prints every process's arguments and three variables as hexadecimal digits.
# It starts another with the same arguments where the first of them is "spawn". The others send
# it their lines, since a launcher may mix long lines of several processes.
PROGRAM = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void show(FILE* out, const char* text) {
  fprintf(out, " ");
  for (; text != NULL && *text != 0; ++text) fprintf(out, "%02x", (unsigned char)*text);
  fprintf(out, ".");
}
static void print_line_of(int rank, char* own) {
  char* line = own;
  if (rank != 0) {
    MPI_Status status;
    int length;
    MPI_Probe(rank, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &length);
    line = malloc(length);
    MPI_Recv(line, length, MPI_CHAR, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  puts(line);
  if (rank != 0) free(line);
}
int main(int argc, char** argv) {
  int rank, size;
  MPI_Comm parent, child;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL && argc > 1 && strcmp(argv[1], "spawn") == 0) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "env", "OF_CHILD=\xff\xc3\xa9");
    MPI_Comm_spawn(argv[0], argv + 2, 1, info, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&child);
    MPI_Info_free(&info);
  } else {
    char* text;
    size_t length;
    FILE* out = open_memstream(&text, &length);
    for (int i = 1; i < argc; ++i) show(out, argv[i]);
    show(out, getenv("GIVEN"));
    show(out, getenv("INHERITED") ? getenv("INHERITED") : getenv("PYTHONHOME"));
    show(out, getenv("OF_CHILD"));
    fclose(out);
    if (rank != 0) MPI_Send(text, length + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    for (int each = 0; rank == 0 && each < size; ++each) print_line_of(each, text);
    free(text);
    if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
  }
  MPI_Finalize();
  return 0;
}
"""
WORDS = [
    b"t\xe9t", b"", b"\xc3\xa9", b"a b", b"new\nline", b"'\"`$HOME\\", b"--", b"[a,b]", b"{c}",
    b"%r", bytes(range(1, 256)).replace(b":", b""), b"\xed\xa0\x80", b"-n", b"\xf0\x9f\x92\x80",
]  # fmt: skip
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PLACES = {"C": {"LC_ALL": "C"}, "UTF-8": {"LC_ALL": "C.UTF-8"}, "ascii": ASCII}


def line(*texts: bytes) -> str:
    return "".join(f" {text.hex()}." for text in texts)


@pytest.fixture(params=mpis.TESTED)
def program(request, programs: Path) -> Path:
    return mpis.ALL[request.param].build_text(PROGRAM, programs / f"any-bytes-{request.param}")


@pytest.mark.parametrize("place", PLACES)
def test_arguments_and_variables(isthmus, monkeypatch, programs: Path, tmp_path, place) -> None:
    for name, text in {**PLACES[place], "INHERITED": os.fsdecode(b"\xe9\n\xff")}.items():
        monkeypatch.setenv(name, text)
    for library in ("openmpi4", "mpich4"):
        built = mpis.ALL[library].build_text(PROGRAM, programs / f"any-bytes-{library}")
        folder = tmp_path / os.fsdecode(b"f\xe9 " + library.encode())
        folder.mkdir()
        (folder / "app").symlink_to(built)
        given = os.fsdecode(b"GIVEN=\xe8=\xc3")
        words = map(os.fsdecode, WORDS)
        done = isthmus("run", "-n", 2, "-x", given, "--wdir", folder, "--", "./app", *words)
        expected = line(*WORDS, b"\xe8=\xc3", b"\xe9\n\xff", b"")
        assert (done.returncode, done.stdout) == (0, f"{expected}\n" * 2), done.stderr


def test_as_many_as_the_kernel_takes(isthmus, program: Path) -> None:
    """Native launchers have narrower limits of their own."""
    words = [b"%d" % number for number in range(100_000)] + [b"x" * 100_000]
    done = isthmus("run", "-n", 2, program, *map(os.fsdecode, words))
    expected = line(*words, b"", b"", b"")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{expected}\n" * 2


def test_spawned_processes(isthmus, program: Path) -> None:
    done = isthmus("run", "-n", 2, program, "spawn", *map(os.fsdecode, WORDS))
    expected = line(*WORDS, b"", b"", b"\xff\xc3\xa9")
    assert (done.returncode, done.stdout) == (0, f"{expected}\n"), done.stderr


def test_variables_of_another_python(tmp_path, program: Path) -> None:
    """The installed command does not look at them, and ranks find them."""
    (tmp_path / "click.py").write_text("raise ImportError('made for another Python')\n")
    other = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": "/nowhere", "GIVEN": "x"}
    command = Path(sys.executable).with_name("isthmus")
    done = ran([command, "run", "-n", "2", program, "y"], env={**os.environ, **other})
    expected = line(b"y", b"x", b"/nowhere", b"")
    assert (done.returncode, done.stdout) == (0, f"{expected}\n" * 2), done.stderr
