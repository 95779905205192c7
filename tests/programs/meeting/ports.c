/* Two sides of the world meet at a port, however they lie; names of ports; what is wrong with them.
   ranks: 2 4 5 */
#include <string.h>

#include "../inter/inter.h"

/* The smallest value of all libraries; MPI_MAX_PORT_NAME differs. */
enum { kPortName = 256 };

/* Messages from each rank to all of the other side, and a collective of all. */
static void talk(MPI_Comm inter, const int* theirs) {
  int rank, size, remote, flag;
  MPI_Comm_test_inter(inter, &flag);
  CHECK(flag, "no intercommunicator");
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_size(inter, &size);
  MPI_Comm_remote_size(inter, &remote);
  MPI_Request* sends = malloc(sizeof *sends * (size_t)remote);
  for (int r = 0; r < remote; ++r) MPI_Isend(&world_rank, 1, MPI_INT, r, 3, inter, &sends[r]);
  for (int r = 0; r < remote; ++r) {
    int said = -1;
    MPI_Recv(&said, 1, MPI_INT, r, 3, inter, MPI_STATUS_IGNORE);
    CHECK(said == theirs[r], "rank %d of the other side is %d, not %d", r, said, theirs[r]);
  }
  MPI_Waitall(remote, sends, MPI_STATUSES_IGNORE);
  free(sends);
  int mine = world_rank, sum = -1, expected = 0;
  for (int r = 0; r < remote; ++r) expected += theirs[r];
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
  CHECK(sum == expected, "the other side's sum is %d, not %d", sum, expected);
}

static void meet_at(const Way* way, const char* port, int times) {
  int* members[2] = {malloc(sizeof(int) * (size_t)world_size),
                     malloc(sizeof(int) * (size_t)world_size)};
  const int side = way->side(world_rank, world_size);
  int sizes[2];
  for (int s = 0; s < 2; ++s) sizes[s] = members_of(way, s, members[s]);
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, side < 0 ? MPI_UNDEFINED : side, 0, &local);
  for (int i = 0; side >= 0 && sizes[0] > 0 && sizes[1] > 0 && i < times; ++i) {
    MPI_Comm inter;
    /* The port is known to the root alone, which is the last. */
    const int root = sizes[side] - 1, is_root = world_rank == members[side][root];
    const char* known = is_root ? port : "";
    if (side == 0)
      MPI_Comm_accept(known, MPI_INFO_NULL, root, local, &inter);
    else
      MPI_Comm_connect(known, MPI_INFO_NULL, root, local, &inter);
    talk(inter, members[1 - side]);
    MPI_Comm_disconnect(&inter);
    CHECK(inter == MPI_COMM_NULL, "a disconnected communicator is not null");
  }
  if (local != MPI_COMM_NULL) MPI_Comm_free(&local);
  free(members[0]);
  free(members[1]);
}

static void names(const char* port) {
  char found[MPI_MAX_PORT_NAME] = "";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (world_rank == world_size - 1) {
    CHECK(MPI_Publish_name("ocean", MPI_INFO_NULL, port) == MPI_SUCCESS, "publish");
    const int again = MPI_Publish_name("ocean", MPI_INFO_NULL, port);
    CHECK(class_of(again) == MPI_ERR_SERVICE, "published twice: class %d", class_of(again));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_Lookup_name("ocean", MPI_INFO_NULL, found) == MPI_SUCCESS, "lookup");
  CHECK(strcmp(found, port) == 0, "the name's port is %s, not %s", found, port);
  int code = MPI_Lookup_name("atmosphere", MPI_INFO_NULL, found);
  CHECK(class_of(code) == MPI_ERR_NAME, "an unknown name: class %d", class_of(code));
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    CHECK(MPI_Unpublish_name("ocean", MPI_INFO_NULL, port) == MPI_SUCCESS, "unpublish");
    code = MPI_Unpublish_name("ocean", MPI_INFO_NULL, port);
    CHECK(class_of(code) == MPI_ERR_SERVICE, "unpublished twice: class %d", class_of(code));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  code = MPI_Lookup_name("ocean", MPI_INFO_NULL, found);
  CHECK(class_of(code) == MPI_ERR_NAME, "a name taken back: class %d", class_of(code));
}

static void wrong_ports(const char* closed) {
  MPI_Comm inter = MPI_COMM_WORLD;
  const int code = MPI_Comm_connect(closed, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  CHECK(class_of(code) == MPI_ERR_PORT, "a closed port: class %d", class_of(code));
  const int alone = MPI_Comm_connect(closed, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  CHECK(class_of(alone) == MPI_ERR_PORT, "a closed port, alone: class %d", class_of(alone));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  CHECK(parent == MPI_COMM_NULL, "a parent of who was not spawned");
  if (world_rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, kPortName, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; i < kWays; ++i) meet_at(&ways[i], port, 2);
  names(port);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) MPI_Close_port(port);
  MPI_Barrier(MPI_COMM_WORLD);
  wrong_ports(port);
  MPI_Finalize();
  return 0;
}
