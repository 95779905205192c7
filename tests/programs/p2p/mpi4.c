/* Additions of MPI-4, if the library has them: large counts (as MPI_Send_c) and MPI_Isendrecv.
   ranks: 2 4 */
#include "p2p.h"

#if MPI_VERSION >= 4
static void pair(int from) {
  MPI_Status status;
  MPI_Request request;
  MPI_Message message;
  MPI_Count count;
  int data[100];
  if (rank == from) {
    fill(data, 100, from, 0, 1);
    MPI_Send_c(data, 100, MPI_INT, 0, from, WORLD);
    MPI_Ssend_c(data, 100, MPI_INT, 0, from, WORLD);
    MPI_Isend_c(data, 100, MPI_INT, 0, from, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send_init_c(data, 100, MPI_INT, 0, from, WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return;
  }
  for (int form = 0; form < 4; ++form) {
    memset(data, 0, sizeof data);
    const int source = form % 2 ? MPI_ANY_SOURCE : from;
    switch (form) {
      case 0:
        MPI_Recv_c(data, 100, MPI_INT, source, from, WORLD, &status);
        break;
      case 1:
        MPI_Irecv_c(data, 100, MPI_INT, source, from, WORLD, &request);
        MPI_Wait(&request, &status);
        break;
      case 2:
        MPI_Mprobe(source, from, WORLD, &message, &status);
        MPI_Mrecv_c(data, 100, MPI_INT, &message, &status);
        break;
      case 3:
        MPI_Recv_init_c(data, 100, MPI_INT, source, from, WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        MPI_Request_free(&request);
        break;
    }
    check_status(&status, from, from, 100, MPI_INT, "a large-count receive");
    MPI_Get_count_c(&status, MPI_INT, &count);
    CHECK(count == 100, "MPI_Get_count_c says %lld", (long long)count);
    check_data(data, 100, from, 0, 1, "a large-count receive");
  }
}

static void ring(int distance) {
  const int to = (rank + distance) % size, from = (rank - distance + size) % size;
  int out = element(rank, to, 0, 0), in = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Isendrecv(&out, 1, MPI_INT, to, 2, &in, 1, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, &request);
  MPI_Wait(&request, &status);
  check_status(&status, from, 2, 1, MPI_INT, "MPI_Isendrecv");
  CHECK(in == element(from, rank, 0, 0), "MPI_Isendrecv got %d", in);
  MPI_Isendrecv_replace_c(&out, 1, MPI_INT, to, 3, from, 3, WORLD, &request);
  MPI_Wait(&request, &status);
  check_status(&status, from, 3, 1, MPI_INT, "MPI_Isendrecv_replace");
  CHECK(out == element(from, rank, 0, 0), "MPI_Isendrecv_replace got %d", out);
  MPI_Sendrecv_c(&out, 1, MPI_INT, to, 4, &in, 1, MPI_INT, from, 4, WORLD, &status);
  check_status(&status, from, 4, 1, MPI_INT, "MPI_Sendrecv_c");
}
#endif

int main(int argc, char** argv) {
  start(&argc, &argv);
  /* Other clusters may have libraries that know less. */
  int here = MPI_VERSION >= 4, all = here;
  for (int r = 1; r < size; ++r) {
    int theirs = 0;
    if (rank == 0) MPI_Recv(&theirs, 1, MPI_INT, r, 8, WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) all = all && theirs;
    if (rank == r) MPI_Send(&here, 1, MPI_INT, 0, 8, WORLD);
  }
  for (int r = 1; r < size; ++r) {
    if (rank == 0) MPI_Send(&all, 1, MPI_INT, r, 8, WORLD);
    if (rank == r) MPI_Recv(&all, 1, MPI_INT, 0, 8, WORLD, MPI_STATUS_IGNORE);
  }
  if (!all) return finish("mpi4 (nothing to do: not every library has it)");
#if MPI_VERSION >= 4
  for (int from = 1; from < size; ++from)
    if (rank == 0 || rank == from) pair(from);
  all_here(9);
  for (int distance = 1; distance < size; ++distance) {
    ring(distance);
    all_here(9);
  }
#endif
  return finish("mpi4");
}
