/* A program written for ULFM, with its names alone, that compares codes with classes.
   ulfm CLUSTER: it fails. The header that names its functions is on the command line. */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../programs/checking.h"

static int rank, size;
static MPI_Comm handled = MPI_COMM_NULL;
static int calls, told;

static void handler(MPI_Comm* comm, int* code, ...) {
  handled = *comm;
  told = *code;
  ++calls;
}

static const char* name_of(int code) {
  switch (code) { /* they are constants */
    case MPI_SUCCESS:
      return "success";
    case MPIX_ERR_PROC_FAILED:
      return "failed";
    case MPIX_ERR_PROC_FAILED_PENDING:
      return "pending";
    case MPIX_ERR_REVOKED:
      return "revoked";
    default:
      return "another";
  }
}

#define EXPECT(code, wanted)                                                               \
  do {                                                                                     \
    const int code_ = (code);                                                              \
    CHECK(code_ == (wanted), "%s: %s and not %s", #code, name_of(code_), name_of(wanted)); \
  } while (0)

static int number_of(MPI_Group* group) {
  int number = -1;
  MPI_Group_size(*group, &number);
  if (*group != MPI_GROUP_EMPTY) MPI_Group_free(group);
  return number;
}

/* Calls that need a member that has failed, or all. */
static void calls_on_failed(MPI_Comm comm, int dead) {
  int word = 0, flag = 0, number;
  int all[64];
  MPI_Request requests[3];
  MPI_Status statuses[3];
  MPI_Comm made;
  EXPECT(MPI_Barrier(comm), MPIX_ERR_PROC_FAILED);
  EXPECT(MPI_Recv(&word, 1, MPI_INT, dead, 1, comm, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
  EXPECT(
      MPI_Sendrecv(&rank, 1, MPI_INT, dead, 1, &word, 1, MPI_INT, dead, 1, comm, MPI_STATUS_IGNORE),
      MPIX_ERR_PROC_FAILED);
  EXPECT(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm), MPIX_ERR_PROC_FAILED);
  EXPECT(MPI_Comm_dup(comm, &made), MPIX_ERR_PROC_FAILED);
  EXPECT(MPI_Probe(MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
  EXPECT(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &requests[0]), MPI_SUCCESS);
  EXPECT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING);
  CHECK(requests[0] != MPI_REQUEST_NULL, "the request is gone");
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  /* The handler gets the error of the request that has failed, and the communicator. */
  EXPECT(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
  MPI_Errhandler mine;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(comm, mine);
  EXPECT(MPI_Isend(&rank, 1, MPI_INT, rank, 7, comm, &requests[0]), MPI_SUCCESS);
  EXPECT(MPI_Irecv(&word, 1, MPI_INT, rank, 7, comm, &requests[1]), MPI_SUCCESS);
  EXPECT(MPI_Irecv(&word, 1, MPI_INT, dead, 1, comm, &requests[2]), MPI_SUCCESS);
  CHECK(calls == 0, "the handler is called too early");
  CHECK(MPI_Waitall(3, requests, statuses) == MPI_ERR_IN_STATUS, "no error in a status");
  CHECK(calls == 1 && told == MPIX_ERR_PROC_FAILED && handled == comm, "%d calls, the last by %s",
        calls, name_of(told));
  EXPECT(statuses[0].MPI_ERROR, MPI_SUCCESS);
  EXPECT(statuses[2].MPI_ERROR, MPIX_ERR_PROC_FAILED);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&mine);
  MPIX_Comm_is_revoked(comm, &flag);
  CHECK(!flag, "it is revoked");
  EXPECT(MPIX_Comm_ack_failed(comm, 0, &number), MPI_SUCCESS);
  CHECK(number == 0, "%d acknowledged", number);
}

/* The same flag and the same result everywhere, while not all have acknowledged the failure. */
static void agreements(MPI_Comm comm, int failed, int first) {
  int flag = ~(1 << rank), other = 1 << rank, word = rank, heard = -1, wanted = -1, i;
  MPI_Group group;
  MPI_Request requests[3];
  MPI_Comm world = MPI_COMM_WORLD;
  EXPECT(MPIX_Comm_failure_get_acked(comm, &group), MPI_SUCCESS);
  CHECK(number_of(&group) == 0, "acknowledged already");
  EXPECT(MPIX_Comm_agree(comm, &flag), MPIX_ERR_PROC_FAILED);
  for (i = 0; i < size; ++i) {
    if (i < first || i >= first + failed) wanted &= ~(1 << i);
  }
  CHECK(flag == wanted, "flag %x and not %x", flag, wanted);
  if (rank % 2) EXPECT(MPIX_Comm_failure_ack(comm), MPI_SUCCESS);
  flag = 3;
  EXPECT(MPIX_Comm_agree(comm, &flag), MPIX_ERR_PROC_FAILED);
  CHECK(flag == 3, "flag %d", flag);
  EXPECT(MPIX_Comm_failure_ack(comm), MPI_SUCCESS);
  EXPECT(MPIX_Comm_failure_get_acked(comm, &group), MPI_SUCCESS);
  CHECK(number_of(&group) == failed, "not all are acknowledged");
  EXPECT(MPIX_Comm_get_failed(comm, &group), MPI_SUCCESS);
  CHECK(number_of(&group) == failed, "not all have failed");
  /* Two agreements under way, and messages. */
  flag = 5;
  EXPECT(MPIX_Comm_iagree(comm, &flag, &requests[0]), MPI_SUCCESS);
  EXPECT(MPIX_Comm_iagree(world, &other, &requests[1]), MPI_SUCCESS);
  EXPECT(MPI_Irecv(&heard, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &requests[2]), MPI_SUCCESS);
  EXPECT(MPI_Send(&word, 1, MPI_INT, rank, 2, comm), MPI_SUCCESS);
  EXPECT(MPI_Wait(&requests[2], MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED); /* not acknowledged */
  EXPECT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
  CHECK(flag == 5 && other == 0 && heard == rank, "%d, %d, %d", flag, other, heard);
}

static void calls_on_revoked(MPI_Comm comm, int peer) {
  int word = 0, flag = 0;
  int all[64];
  MPI_Request request;
  MPI_Comm made, again, shrunk;
  MPI_Group group;
  MPIX_Comm_revoke(comm);
  MPIX_Comm_revoke(comm);
  EXPECT(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS);
  CHECK(flag, "it is not revoked");
  EXPECT(MPI_Barrier(comm), MPIX_ERR_REVOKED);
  EXPECT(MPI_Send(&word, 1, MPI_INT, peer, 1, comm), MPIX_ERR_REVOKED);
  EXPECT(MPI_Ssend(&word, 1, MPI_INT, rank, 1, comm), MPIX_ERR_REVOKED);
  EXPECT(MPI_Recv(&word, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
  EXPECT(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
  EXPECT(MPI_Send(&word, 1, MPI_INT, MPI_PROC_NULL, 1, comm), MPIX_ERR_REVOKED);
  EXPECT(MPI_Recv(&word, 1, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
  EXPECT(MPI_Probe(peer, 1, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
  EXPECT(MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
  EXPECT(MPI_Allreduce(&rank, &word, 1, MPI_INT, MPI_SUM, comm), MPIX_ERR_REVOKED);
  EXPECT(MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, comm), MPIX_ERR_REVOKED);
  if (MPI_Ibarrier(comm, &request) == MPI_SUCCESS) {
    EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
  }
  EXPECT(MPI_Comm_dup(comm, &made), MPIX_ERR_REVOKED);
  EXPECT(MPI_Comm_split(comm, 0, rank, &made), MPIX_ERR_REVOKED);
  MPI_Comm_group(comm, &group);
  EXPECT(MPI_Comm_create_group(comm, group, 0, &made), MPIX_ERR_REVOKED);
  MPI_Group_free(&group);
  flag = 1;
  EXPECT(MPIX_Comm_agree(comm, &flag), MPI_SUCCESS);
  EXPECT(MPIX_Comm_shrink(comm, &shrunk), MPI_SUCCESS);
  EXPECT(MPIX_Comm_shrink(comm, &again), MPI_SUCCESS);
  MPI_Comm_compare(shrunk, again, &word);
  CHECK(word == MPI_CONGRUENT, "two shrunk ones differ");
  EXPECT(MPI_Barrier(shrunk), MPI_SUCCESS);
  MPI_Comm_free(&again);
  MPI_Comm_free(&shrunk);
}

/* This process is the only member, so it alone revokes the communicator. */
static void revoke_own(void) {
  int word = 0, flag = 0;
  MPI_Comm own, made;
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  EXPECT(MPIX_Comm_revoke(own), MPI_SUCCESS);
  EXPECT(MPIX_Comm_is_revoked(own, &flag), MPI_SUCCESS);
  CHECK(flag, "it is not revoked");
  EXPECT(MPI_Barrier(own), MPIX_ERR_REVOKED);
  EXPECT(MPI_Send(&word, 1, MPI_INT, MPI_PROC_NULL, 1, own), MPIX_ERR_REVOKED);
  EXPECT(MPI_Recv(&word, 1, MPI_INT, 0, 1, own, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
  EXPECT(MPI_Comm_dup(own, &made), MPIX_ERR_REVOKED);
  EXPECT(MPIX_Comm_agree(own, &flag), MPI_SUCCESS);
  EXPECT(MPIX_Comm_shrink(own, &made), MPI_SUCCESS);
  EXPECT(MPI_Barrier(made), MPI_SUCCESS);
  EXPECT(MPI_Comm_free(&made), MPI_SUCCESS);
  EXPECT(MPI_Comm_free(&own), MPI_SUCCESS);
}

/* Both sides agree on the flags of the other one; a member of one revokes for both. */
static void two_sides(MPI_Comm comm) {
  int me, number, flag, other = 0, word = 0;
  MPI_Comm side, both;
  MPI_Request request;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &number);
  const int right = me % 2;
  EXPECT(MPI_Comm_split(comm, right, me, &side), MPI_SUCCESS);
  EXPECT(MPI_Intercomm_create(side, 0, comm, 1 - right, 9, &both), MPI_SUCCESS);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  flag = right ? 6 : 3;
  EXPECT(MPIX_Comm_agree(both, &flag), MPI_SUCCESS);
  CHECK(flag == (right ? 3 : 6), "flag %d", flag);
  flag = right ? 12 : 10;
  EXPECT(MPIX_Comm_iagree(both, &flag, &request), MPI_SUCCESS);
  EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  CHECK(flag == (right ? 10 : 12), "flag %d", flag);
  if (me == number - 1) {
    EXPECT(MPIX_Comm_revoke(both), MPI_SUCCESS);
  } else {
    EXPECT(MPI_Recv(&word, 1, MPI_INT, 0, 1, both, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
  }
  EXPECT(MPI_Barrier(both), MPIX_ERR_REVOKED);
  MPIX_Comm_is_revoked(both, &other);
  CHECK(other, "it is not revoked");
  MPI_Comm_free(&both);
  MPI_Comm_free(&side);
}

int main(int argc, char** argv) {
  int i, first, failed = 0, last, in, word, flag = 1, living, outcome;
  char text[MPI_MAX_ERROR_STRING];
  const char* const cluster = getenv("ISTHMUS_CLUSTER");
  MPI_Comm comm, shrunk, of_group;
  MPI_Group all, group;
  MPI_Errhandler mine, inherited;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* survives = NULL;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &survives, &word);
  CHECK(word && *survives == 1, "it cannot survive");
  in = cluster != NULL && !strcmp(cluster, argv[1]);
  first = in ? rank : size;
  last = in ? rank : -1;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, comm);
  failed = last - first + 1;
  EXPECT(MPIX_Comm_shrink(comm, &shrunk), MPI_SUCCESS); /* nobody has failed */
  MPI_Comm_compare(comm, shrunk, &word);
  CHECK(word == MPI_CONGRUENT, "it is smaller");
  EXPECT(MPIX_Comm_agree(shrunk, &flag), MPI_SUCCESS);
  two_sides(shrunk);
  MPI_Comm_free(&shrunk);
  revoke_own();
  if (in) raise(SIGKILL);

  calls_on_failed(comm, first);
  outcome = MPI_Barrier(comm);
  MPI_Error_string(outcome, text, &word);
  CHECK(strstr(text, argv[1]) != NULL, "%s", text);
  agreements(comm, failed, first);

  /* The living members make a communicator without the others. */
  MPI_Comm_group(comm, &all);
  MPIX_Comm_get_failed(comm, &group);
  MPI_Group living_group;
  MPI_Group_difference(all, group, &living_group);
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  EXPECT(MPI_Comm_create_group(comm, living_group, 3, &of_group), MPI_SUCCESS);
  MPI_Group_free(&living_group);
  MPI_Comm_set_errhandler(of_group, MPI_ERRORS_RETURN); /* MPICH 4.0 gives it the default one */
  EXPECT(MPI_Barrier(of_group), MPI_SUCCESS);
  EXPECT(MPIX_Comm_agree(of_group, &flag), MPI_SUCCESS); /* all have left the barrier */
  calls_on_revoked(of_group, rank == 0 ? size - failed - 1 : 0);
  MPI_Comm_free(&of_group);

  /* A shrunk communicator has the handler of its parent. */
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(comm, mine);
  EXPECT(MPIX_Comm_shrink(comm, &shrunk), MPI_SUCCESS);
  MPI_Comm_get_errhandler(shrunk, &inherited);
  CHECK(inherited == mine, "it has another handler");
  MPI_Errhandler_free(&inherited);
  MPI_Errhandler_free(&mine);
  MPI_Comm_size(shrunk, &living);
  CHECK(living == size - failed, "%d live", living);
  MPI_Comm_rank(shrunk, &i);
  EXPECT(MPI_Barrier(shrunk), MPI_SUCCESS);
  if (i == 0) printf("%d of %d\n", living, size);
  MPI_Comm_free(&shrunk);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
