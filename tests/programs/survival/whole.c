/* Members agree on flags and shrink communicators of which nobody has failed. ranks: 2 3 5 */
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../checking.h"

static int rank, size;

static void agree(MPI_Comm comm) {
  int me, members, round;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &members);
  for (round = 0; round < 20; ++round) {
    const int mine = ~(1 << (me + round) % 31);
    int flag = mine, all = mine, i;
    for (i = 0; i < members; ++i) all &= ~(1 << (i + round) % 31);
    if ((round + me) % 7 == 0) usleep(2000);
    CHECK(isthmus_comm_agree(comm, &flag) == MPI_SUCCESS, "the members cannot agree");
    CHECK(flag == all, "they agree on %x, not %x", (unsigned)flag, (unsigned)all);
  }
}

static void agree_meanwhile(MPI_Comm comm) {
  MPI_Request requests[2], message;
  MPI_Status statuses[2];
  int me, members, flags[2] = {3, 5}, sent, got = -1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &members);
  sent = me;
  MPI_Irecv(&got, 1, MPI_INT, (me + members - 1) % members, 8, comm, &message);
  if (me == 0) flags[1] = 6;
  CHECK(isthmus_comm_iagree(comm, &flags[0], &requests[0]) == MPI_SUCCESS, "no request");
  CHECK(isthmus_comm_iagree(comm, &flags[1], &requests[1]) == MPI_SUCCESS, "no request");
  MPI_Send(&sent, 1, MPI_INT, (me + 1) % members, 8, comm);
  CHECK(MPI_Waitall(2, requests, statuses) == MPI_SUCCESS, "an agreement failed");
  MPI_Wait(&message, MPI_STATUS_IGNORE);
  CHECK(flags[0] == 3 && flags[1] == (members > 1 ? 4 : 6), "%d %d", flags[0], flags[1]);
  CHECK(got == (me + members - 1) % members, "a message was lost");
}

static void shrink(MPI_Comm comm) {
  MPI_Comm shrunk = MPI_COMM_NULL, again = MPI_COMM_NULL;
  MPI_Request request;
  int alike, one = 1, sum = 0, members;
  MPI_Comm_size(comm, &members);
  CHECK(isthmus_comm_shrink(comm, &shrunk) == MPI_SUCCESS, "it cannot be shrunk");
  MPI_Comm_compare(comm, shrunk, &alike);
  CHECK(alike == MPI_CONGRUENT, "members are missing");
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, shrunk);
  CHECK(sum == members, "%d members of %d", sum, members);
  CHECK(isthmus_comm_ishrink(shrunk, &again, &request) == MPI_SUCCESS, "no request");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again);
  CHECK(sum == members, "%d members of %d", sum, members);
  agree(again);
  MPI_Comm_free(&again);
  agree(shrunk);
  MPI_Comm_free(&shrunk);
}

/* The communicator's errors return. */
static void nobody_has_failed(MPI_Comm comm) {
  MPI_Group failed;
  int number = -1, revoked = -1;
  CHECK(isthmus_comm_get_failed(comm, &failed) == MPI_SUCCESS, "no group");
  MPI_Group_size(failed, &number);
  CHECK(number == 0, "%d members have failed", number);
  CHECK(isthmus_comm_failure_ack(comm) == MPI_SUCCESS, "no failure can be acknowledged");
  CHECK(isthmus_comm_failure_get_acked(comm, &failed) == MPI_SUCCESS, "no group");
  MPI_Group_size(failed, &number);
  CHECK(number == 0, "%d failures are acknowledged", number);
  CHECK(isthmus_comm_ack_failed(comm, 0, &number) == MPI_SUCCESS, "none can be acknowledged");
  CHECK(number == 0, "%d failures are acknowledged", number);
  CHECK(isthmus_comm_is_revoked(comm, &revoked) == MPI_SUCCESS && !revoked, "it is revoked");
}

int main(int argc, char** argv) {
  MPI_Comm all, half;
  int class, code;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Comm_split(all, rank % 2, -rank, &half);

  agree(MPI_COMM_WORLD);
  agree(half);
  agree(isthmus_cluster_comm());
  agree_meanwhile(all);
  agree_meanwhile(half);
  shrink(MPI_COMM_WORLD);
  shrink(half);
  nobody_has_failed(all);
  if (isthmus_clusters() > 1) {
    CHECK(ISTHMUS_ERR_PROC_FAILED != ISTHMUS_ERR_REVOKED && ISTHMUS_ERR_PROC_FAILED > 0,
          "two errors are one");
    code = isthmus_comm_revoke(all);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION, "a run that does not survive: class %d", class);
  }
  MPI_Comm_free(&half);
  MPI_Comm_free(&all);
  MPI_Finalize();
  return 0;
}
