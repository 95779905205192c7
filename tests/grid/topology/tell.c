#include <isthmus.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, members;
  double latency, rate;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_USER_COMM[0], &members);
  if (rank == 0) {
    const int last = isthmus_clusters() - 1;
    const int way = isthmus_link(0, last, &latency, &rate);
    printf(
        "clusters %d; number %d; world at %d; members %d; name '%s'; rank 1 in %d; "
        "size %d; way %d; latency %g; rate %g\n",
        isthmus_clusters(), MPI_COMM_NUMBER, MPI_COMM_WORLD_INDEX, members, isthmus_cluster_name(0),
        isthmus_cluster_of(1), isthmus_cluster_size(0), way, latency, rate);
  }
  MPI_Finalize();
  return 0;
}
