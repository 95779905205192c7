/* Wrong arguments to the makers of intercommunicators, and functions that take none: everybody gets
   an error, nobody hangs.
   ranks: 2 4 */
#include "inter.h"

static void expect(int code, int class, const char* what) {
  int found = MPI_SUCCESS;
  CHECK(code != MPI_SUCCESS, "%s succeeded", what);
  MPI_Error_class(code, &found);
  CHECK(found == class, "%s: the error class is %d, expected %d", what, found, class);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm inter = MPI_COMM_NULL, made = MPI_COMM_NULL, all;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);

  expect(MPI_Intercomm_create(all, world_size, MPI_COMM_WORLD, 0, 1, &inter), MPI_ERR_RANK,
         "a leader that is not a rank");
  /* Both sides are everybody: the leader meets itself. */
  expect(MPI_Intercomm_create(all, 0, MPI_COMM_WORLD, 0, 1, &inter), MPI_ERR_COMM,
         "two sides that are the same");
  expect(MPI_Intercomm_create(all, 0, MPI_COMM_WORLD, MPI_PROC_NULL, 1, &inter), MPI_ERR_COMM,
         "a remote leader that is nobody");
  expect(MPI_Intercomm_merge(all, 0, &made), MPI_ERR_COMM, "merging an intracommunicator");
  MPI_Group group;
  int remote = 0;
  expect(MPI_Comm_remote_size(all, &remote), MPI_ERR_COMM, "a side that is not there");
  expect(MPI_Comm_remote_group(all, &group), MPI_ERR_COMM, "its group");

  Meeting m = meet(&ways[0], 2); /* of two clusters */
  MPI_Comm_set_errhandler(m.inter, MPI_ERRORS_RETURN);
  expect(MPI_Intercomm_create(m.inter, 0, MPI_COMM_WORLD, 0, 1, &inter), MPI_ERR_COMM,
         "an intercommunicator as the local communicator");
  MPI_Comm_group(m.inter, &group);
  expect(MPI_Comm_create_group(m.inter, group, 1, &made), MPI_ERR_COMM,
         "MPI_Comm_create_group of an intercommunicator");
  MPI_Group_free(&group);
  const int dims = 1, periods = 0;
  expect(MPI_Cart_create(m.inter, 1, &dims, &periods, 0, &made), MPI_ERR_COMM,
         "a topology of an intercommunicator");
  if (m.size > 1)
    expect(MPI_Intercomm_merge(m.inter, m.rank == 0, &made), MPI_ERR_ARG, "a side that differs");
  int in = 1, out = 0;
  expect(MPI_Exscan(&in, &out, 1, MPI_INT, MPI_SUM, m.inter), MPI_ERR_COMM, "a scan");
  expect(MPI_Allreduce(MPI_IN_PLACE, &out, 1, MPI_INT, MPI_SUM, m.inter), MPI_ERR_BUFFER,
         "MPI_IN_PLACE between two sides");
  /* It is as good as before. */
  prove_inter(m.inter, m.mine, m.size, m.theirs, m.remote_size, "after errors");
  MPI_Barrier(m.inter);
  part(&m);
  MPI_Comm_free(&all);
  return finish("errors of intercommunicators");
}
