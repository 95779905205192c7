"""Files that far processes write and read while the link is cut for a moment."""

import sys

import mpis

SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, MIBS = 24 };

int main(int argc, char** argv) {
  int rank, wrong = 0;
  MPI_File file;
  MPI_Info info;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_share", "false");
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  char* const data = malloc(MIB);
  for (int i = 0; i < 2 * MIBS && rank == 1; ++i) {
    const int value = 'a' + i % MIBS;
    memset(data, i < MIBS ? value : 0, MIB);
    if (i == MIBS) MPI_File_seek(file, 0, MPI_SEEK_SET);
    if (i % MIBS == 8 && system(argv[2])) return 2;
    const int code = i < MIBS ? MPI_File_write(file, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE)
                              : MPI_File_read(file, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return 3;
    for (int k = 0; k < MIB; ++k) wrong += data[k] != value;
  }
  if (MPI_File_close(&file) != MPI_SUCCESS) return 4;
  if (rank == 1) printf("%d wrong\\n", wrong);
  MPI_Finalize();
  return 0;
}
"""


def test_a_link_that_is_cut_for_a_moment(standing, tmp_path):
    lab = standing("hablot", "--nodes", "1")
    program = mpis.ALL["mpich4"].build_text(SOURCE, tmp_path / "cut")
    file = tmp_path / "file"
    isthmus = f"{sys.executable} -m isthmus lab"
    cut = f"{isthmus} cut a-b && {{ (sleep 2; {isthmus} restore a-b) >/dev/null 2>&1 & }}"
    done = lab.exec(
        sys.executable, "-m", "isthmus", "run", "--timeout", 200, "-n", 2, program, file, cut
    )
    assert done.returncode == 0, done.stderr
    assert "0 wrong" in done.stdout
    assert file.read_bytes() == b"".join(bytes([ord("a") + i]) * (1 << 20) for i in range(24))
