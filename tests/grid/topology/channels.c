/* Prints, for each channel of this process, its size and the sum of its world ranks. */
#include <stdio.h>

#include "../../../include/isthmus.h"

int main(int argc, char** argv) {
  char line[512];
  int rank, used;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  used = snprintf(line, sizeof line, "%d", rank);
  int number = isthmus_clusters() > 1;
  if (number && MPI_USER_COMM[0] != isthmus_cluster_comm()) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < isthmus_channels(); ++i) {
    const MPI_Comm comm = isthmus_channel_comm(i);
    int size, sum;
    if (comm == MPI_COMM_NULL) continue;
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    used += snprintf(line + used, sizeof line - used, " %s %d %d", isthmus_channel_name(i), size,
                     sum);
    if (MPI_USER_COMM[number++] != comm) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (MPI_USER_COMM[MPI_COMM_WORLD_INDEX] != MPI_COMM_WORLD) MPI_Abort(MPI_COMM_WORLD, 3);
  if (isthmus_channel_comm(-1) != MPI_COMM_NULL) MPI_Abort(MPI_COMM_WORLD, 4);
  if (isthmus_channel_comm(isthmus_channels()) != MPI_COMM_NULL) MPI_Abort(MPI_COMM_WORLD, 5);
  printf("%s of %d\n", line, MPI_COMM_NUMBER);
  MPI_Finalize();
  return 0;
}
