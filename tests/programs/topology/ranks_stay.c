/* Topologies with reorder = 1 keep the ranks of their parent where nobody asked for other ones.
   Programs rely on that: they go on with the neighbours that they gave. Here neighbours are half a
   world apart, so that another order would be better.
   ranks: 4 8 */
#include "../checking.h"

static int rank, size;

static void keeps(MPI_Comm topology, const char* what) {
  int there;
  MPI_Comm_rank(topology, &there);
  CHECK(there == rank, "%s: the rank is %d", what, there);
}

/* Every neighbour that was given to the call is heard. */
static void hears(MPI_Comm topology, int neighbour, const char* what) {
  int heard = -1;
  MPI_Request request;
  keeps(topology, what);
  MPI_Ineighbor_alltoall(&rank, 1, MPI_INT, &heard, 1, MPI_INT, topology, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(heard == neighbour, "%s: heard %d, not %d", what, heard, neighbour);
  MPI_Comm_free(&topology);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int mate = (rank + size / 2) % size, weight = 9, degree = 1;
  MPI_Comm made;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &mate, &weight, 1, &mate, &weight,
                                 MPI_INFO_NULL, 1, &made);
  hears(made, mate, "MPI_Dist_graph_create_adjacent");
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &mate, &weight, MPI_INFO_NULL, 1, &made);
  hears(made, mate, "MPI_Dist_graph_create");

  int index[64], edges[64], mapped;
  for (int r = 0; r < size; ++r) index[r] = r + 1, edges[r] = (r + size / 2) % size;
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &made);
  hears(made, mate, "MPI_Graph_create");
  MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &mapped);
  CHECK(mapped == rank, "MPI_Graph_map gives %d", mapped);

  const int dims[2] = {2, size / 2}, periods[2] = {1, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &made);
  keeps(made, "MPI_Cart_create");
  MPI_Comm_free(&made);
  MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped);
  CHECK(mapped == rank, "MPI_Cart_map gives %d", mapped);
  MPI_Finalize();
  return 0;
}
