/* Objects of every kind that may leave something on the host: objects FOLDER ROUNDS [hold | FULL].
   Each round makes and frees them all. The objects of the last round stay with "hold": rank 0
   prints "held", and all ranks wait. FULL is a folder whose file system is filled before the first
   round. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../../programs/checking.h"

static MPI_File file = MPI_FILE_NULL;
static MPI_Win windows[3];
static MPI_Comm copy;
static MPI_Request request;
static int value = 5, *memory, *shared;

static void make(const char* folder, int round) {
  char name[300];
  int world, size, sum = 0;
  MPI_Comm host;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(name, sizeof name, "%s/file-%d", folder, round);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  CHECK(MPI_File_open(copy, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file) == MPI_SUCCESS,
        "%s could not be opened", name);
  MPI_File_write_ordered(file, &world, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, copy, &windows[0]);
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, copy, &memory, &windows[1]);
  MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, host, &shared, &windows[2]);
  MPI_Comm_free(&host);
  MPI_Send_init(&value, 1, MPI_INT, (world + 1) % size, 0, copy, &request);
  MPI_Allreduce(&world, &sum, 1, MPI_INT, MPI_SUM, copy);
  CHECK(sum == size * (size - 1) / 2, "the sum is %d", sum);
}

static void drop(void) {
  MPI_Request_free(&request);
  for (int i = 0; i < 3; ++i) MPI_Win_free(&windows[i]);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS, "the file could not be closed");
  MPI_Comm_free(&copy);
}

static void fill(const char* folder) {
  static char page[4096];
  char name[300];
  snprintf(name, sizeof name, "%s/filled", folder);
  const int rest = open(name, O_CREAT | O_WRONLY, 0600);
  while (write(rest, page, sizeof page) > 0) {
  }
  close(rest);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* more = argc > 3 ? argv[3] : "";
  const int holds = strcmp(more, "hold") == 0, rounds = atoi(argv[2]);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (*more && !holds) {
    if (rank == 0) fill(more);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int round = 0; round < rounds; ++round) {
    make(argv[1], round);
    if (!holds) drop();
  }
  if (holds) {
    if (rank == 0) printf("held\n");
    fflush(stdout);
    pause();
  }
  MPI_Finalize();
  return 0;
}
