/* A 2-D halo exchange. Each step sends a face to each of four neighbours and receives one from
 * each, all at once. Every tenth step sums over all ranks. Usage: halo STEPS BYTES [REORDER] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WAYS = 4, SUM_EVERY = 10 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 200, bytes = argc > 2 ? atoi(argv[2]) : 8192;
  int size = 0, rank = 0, dims[2] = {0, 0}, periods[2] = {0, 0}, neighbours[WAYS];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Comm mesh;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, argc > 3 ? atoi(argv[3]) : 1, &mesh);
  MPI_Comm_rank(mesh, &rank);
  for (int i = 0; i < 2; ++i)
    MPI_Cart_shift(mesh, i, 1, &neighbours[2 * i], &neighbours[2 * i + 1]);
  char* faces = calloc(2 * WAYS, (size_t)bytes);
  double sum = 0;
  const double start = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    MPI_Request requests[2 * WAYS];
    for (int i = 0; i < WAYS; ++i) {
      char *in = faces + (size_t)i * (size_t)bytes, *out = in + WAYS * (size_t)bytes;
      MPI_Irecv(in, bytes, MPI_BYTE, neighbours[i], 0, mesh, &requests[i]);
      MPI_Isend(out, bytes, MPI_BYTE, neighbours[i], 0, mesh, &requests[WAYS + i]);
    }
    MPI_Waitall(2 * WAYS, requests, MPI_STATUSES_IGNORE);
    double mine = 1;
    if (step % SUM_EVERY == 0) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, mesh);
  }
  if (rank == 0)
    printf("time: %.6f s\nverified: %s\n", MPI_Wtime() - start, sum == size ? "yes" : "no");
  free(faces);
  MPI_Comm_free(&mesh);
  MPI_Finalize();
  return 0;
}
