/* Neighbourhoods, an intercommunicator, handles that are used again, a derived type; known numbers
 * of messages, each of a size of its own. */
#include <mpi.h>

static char out[4096], in[4096];

/* 2 bytes to either side. */
static void cartesian(int size) {
  const int periodic = 1;
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
  MPI_Neighbor_alltoall(out, 2, MPI_CHAR, in, 2, MPI_CHAR, line);
  MPI_Comm_free(&line);
}

/* 4 bytes to the next. */
static void graph(int rank, int size) {
  const int before = (rank + size - 1) % size, next = (rank + 1) % size;
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring);
  MPI_Comm_free(&ring);
}

/* Even ranks to the odd ones: 16 bytes, and a broadcast of 1. */
static void inter(int rank) {
  MPI_Comm half, both;
  int r;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);
  MPI_Comm_rank(both, &r);
  if (rank % 2 == 0) {
    MPI_Request request;
    MPI_Issend(out, 16, MPI_CHAR, r, 0, both, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, 16, MPI_CHAR, r, 0, both, MPI_STATUS_IGNORE);
  }
  MPI_Bcast(in, 1, MPI_CHAR, rank % 2 ? 0 : r == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/* 32 bytes along the order of ranks and then along its reverse, 20 times. */
static void again(int rank, int size) {
  for (int i = 0; i < 20; ++i) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Type_contiguous(i % 2 ? 32 : 64, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -rank : rank, &comm);
    int r;
    MPI_Comm_rank(comm, &r);
    MPI_Sendrecv(out, 1, type, (r + 1) % size, 0, in, 1, type, (r + size - 1) % size, 0, comm,
                 MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Type_free(&type);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  cartesian(size);
  graph(rank, size);
  inter(rank);
  again(rank, size);
  MPI_Finalize();
  return 0;
}
