/* Cartesian topologies: shapes of all kinds, shifts, sub-grids, duplicates; against the plain
   arithmetic. */
#include "check.h"

static void check_shape(MPI_Comm cart, int ndims, const int* dims, const int* periods) {
  int topology = -1, count = -1, rank, size, got_dims[4], got_periods[4], coords[4];
  MPI_Topo_test(cart, &topology);
  CHECK(topology == MPI_CART, "MPI_Topo_test gave %d, expected MPI_CART", topology);
  MPI_Cartdim_get(cart, &count);
  CHECK(count == ndims, "MPI_Cartdim_get gave %d, expected %d", count, ndims);
  MPI_Comm_rank(cart, &rank);
  MPI_Comm_size(cart, &size);
  MPI_Cart_get(cart, ndims, got_dims, got_periods, coords);
  int rest = rank;
  for (int d = ndims - 1; d >= 0; --d) {
    CHECK(got_dims[d] == dims[d] && !got_periods[d] == !periods[d],
          "dimension %d is %d (periodic: %d), expected %d (%d)", d, got_dims[d], got_periods[d],
          dims[d], periods[d]);
    CHECK(coords[d] == rest % dims[d], "coordinate %d of rank %d is %d, expected %d", d, rank,
          coords[d], rest % dims[d]);
    rest /= dims[d];
  }
  for (int other = 0; other < size; ++other) {
    int at[4], back = -1;
    MPI_Cart_coords(cart, other, ndims, at);
    MPI_Cart_rank(cart, at, &back);
    CHECK(back == other, "coordinates of rank %d lead to rank %d", other, back);
    for (int d = 0; d < ndims; ++d)
      if (periods[d]) {
        at[d] -= 3 * dims[d];
        MPI_Cart_rank(cart, at, &back);
        CHECK(back == other, "coordinates do not wrap around in dimension %d", d);
      }
  }
  for (int d = 0; d < ndims; ++d) {
    int stride = 1;
    for (int e = d + 1; e < ndims; ++e) stride *= dims[e];
    for (int by = -2; by <= 2; ++by) {
      int ends[2], source = -9, dest = -9;
      for (int side = 0; side < 2; ++side) {
        int at = coords[d] + (side ? by : -by);
        if (periods[d]) at = ((at % dims[d]) + dims[d]) % dims[d];
        ends[side] = at < 0 || at >= dims[d] ? MPI_PROC_NULL : rank + (at - coords[d]) * stride;
      }
      MPI_Cart_shift(cart, d, by, &source, &dest);
      CHECK(source == ends[0] && dest == ends[1],
            "shift by %d in dimension %d gave %d -> %d, expected %d -> %d", by, d, source, dest,
            ends[0], ends[1]);
      int out = rank, in = -1;
      MPI_Sendrecv(&out, 1, MPI_INT, dest, by + 5, &in, 1, MPI_INT, source, by + 5, cart,
                   MPI_STATUS_IGNORE);
      CHECK(in == (source == MPI_PROC_NULL ? -1 : source), "%d came from %d", in, source);
    }
  }
}

/* All sub-grids of `cart` that keep some of its dimensions. */
static void check_subs(MPI_Comm cart, int ndims, const int* dims, const int* periods) {
  int rank, coords[4];
  MPI_Comm_rank(cart, &rank);
  MPI_Cart_coords(cart, rank, ndims, coords);
  for (int mask = 1; mask < 1 << ndims; ++mask) {
    int remain[4], sub_dims[4], sub_periods[4], kept = 0, expected = 0, sub_rank, count = 1;
    for (int d = 0; d < ndims; ++d) {
      remain[d] = mask >> d & 1;
      if (!remain[d]) continue;
      sub_dims[kept] = dims[d];
      sub_periods[kept++] = periods[d];
      expected = expected * dims[d] + coords[d];
      count *= dims[d];
    }
    MPI_Comm sub;
    MPI_Cart_sub(cart, remain, &sub);
    MPI_Comm_rank(sub, &sub_rank);
    CHECK(sub_rank == expected, "rank %d of a sub-grid, expected %d", sub_rank, expected);
    check_shape(sub, kept, sub_dims, sub_periods);
    long sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, sub);
    CHECK(sum == count, "a sub-grid of %ld ranks, expected %d", sum, count);
    MPI_Comm_free(&sub);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int spans = spans_clusters(MPI_COMM_WORLD);
  int* members = malloc(sizeof(int) * world_size);
  for (int i = 0; i < world_size; ++i) members[i] = i;
  int topology = -1;
  MPI_Topo_test(MPI_COMM_WORLD, &topology);
  CHECK(topology == MPI_UNDEFINED, "MPI_COMM_WORLD has topology %d", topology);

  for (int ndims = 1; ndims <= 3; ++ndims) {
    for (int wrap = 0; wrap < 1 << ndims; ++wrap) {
      int dims[3] = {0}, periods[3];
      MPI_Dims_create(world_size, ndims, dims);
      for (int d = 0; d < ndims; ++d) periods[d] = wrap >> d & 1;
      MPI_Comm cart, copy;
      MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart);
      prove(cart, members, world_size, "a Cartesian communicator");
      check_shape(cart, ndims, dims, periods);
      check_subs(cart, ndims, dims, periods);
      MPI_Comm_dup(cart, &copy);
      MPI_Comm_free(&cart);
      check_shape(copy, ndims, dims, periods);
      MPI_Comm_free(&copy);
    }
  }

  /* Fewer positions than ranks, down to one; and an odd parent. */
  MPI_Comm back;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &back);
  for (int count = world_size; count >= 1; --count) {
    int rank, period = 1, position = -9;
    MPI_Comm_rank(back, &rank);
    MPI_Cart_map(back, 1, &count, &period, &position);
    /* Open MPI 4.1 does not know MPI_UNDEFINED here. */
    CHECK(rank < count ? position >= 0 && position < count : position == MPI_UNDEFINED || !spans,
          "MPI_Cart_map gave %d for rank %d and %d positions", position, rank, count);
    MPI_Comm cart;
    MPI_Cart_create(back, 1, &count, &period, 1, &cart);
    CHECK((cart != MPI_COMM_NULL) == (rank < count), "rank %d of %d positions", rank, count);
    if (cart == MPI_COMM_NULL) continue;
    check_shape(cart, 1, &count, &period);
    MPI_Comm_free(&cart);
  }
  MPI_Comm_free(&back);

  /* What must fail. */
  int dims[2] = {world_size, 1}, periods[2] = {0, 0}, too_many = world_size + 1, code, class, none;
  MPI_Comm cart;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  code = MPI_Cart_create(MPI_COMM_WORLD, 1, &too_many, periods, 0, &cart);
  CHECK(code != MPI_SUCCESS, "a topology larger than the communicator was made");
  code = MPI_Cart_rank(MPI_COMM_WORLD, dims, &none);
  MPI_Error_class(code, &class);
  CHECK(class == MPI_ERR_TOPOLOGY, "no topology gave error class %d", class);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  int outside[2] = {-1, 0};
  MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
  CHECK(MPI_Cart_rank(cart, outside, &none) != MPI_SUCCESS, "a position outside has a rank");
  if (spans) /* Open MPI computes something */
    CHECK(MPI_Cart_coords(cart, world_size, 2, outside) != MPI_SUCCESS, "no such rank has a place");
  MPI_Comm_free(&cart);
  free(members);
  return finish("cart");
}
