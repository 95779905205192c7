/* The buffers of sessions. A buffer attached to a session serves the communicators that come from
   it, except those that have their own. Ranks whose library is older than MPI-4.1 only receive.
   needs: sessions. ranks: 2 5 */
#include "sessions.h"

enum { kBytes = 1 << 20, kBatch = 2, kRoom = kBatch * (kBytes + 512) + kBytes / 2 };

static char data[kBytes];
static MPI_Comm world, split, duplicate, other, inter;

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static const int able = 1;

static void send(int to, int number, MPI_Comm comm) {
  memset(data, number, sizeof data);
  CHECK(MPI_Bsend(data, kBytes, MPI_CHAR, to, number, comm) == MPI_SUCCESS,
        "MPI_Bsend %d to %d failed", number, to);
}

static void refused(int to, MPI_Comm comm, const char* what) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(MPI_Bsend(data, kBytes, MPI_CHAR, to, 99, comm), &error_class);
  CHECK(error_class == MPI_ERR_BUFFER, "MPI_Bsend to %d %s: error class %d", to, what, error_class);
}

/* More than a batch does not fit. */
static void send_all(int to, MPI_Session session, int in_inter) {
  char* const first = malloc(kRoom);
  char* const second = malloc(kRoom);
  void* address = NULL;
  int size = -1, flag = 0;
  MPI_Count large = -1;
  MPI_Request request = MPI_REQUEST_NULL;

  refused(to, world, "without a buffer");
  MPI_Session_attach_buffer(session, first, kRoom);
  send(to, 0, world);
  send(to, 1, split);
  MPI_Session_flush_buffer(session);
  send(to, 2, duplicate);
  send(to, 3, world);
  MPI_Session_iflush_buffer(session, &request);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  refused(to, other, "on another session's communicator");

  /* A communicator's own goes before its session's. */
  MPI_Comm_attach_buffer(split, second, kRoom);
  for (int i = 4; i < 6; ++i) send(to, i, split);
  for (int i = 6; i < 8; ++i) send(to, i, world);
  MPI_Comm_detach_buffer(split, &address, &size);
  CHECK(address == second && size == kRoom, "MPI_Comm_detach_buffer gave another buffer");
  MPI_Session_detach_buffer(session, &address, &size);
  CHECK(address == first && size == kRoom, "MPI_Session_detach_buffer gave another buffer");

  /* The process's serves who has no other. */
  MPI_Buffer_attach(second, kRoom);
  MPI_Session_attach_buffer_c(session, first, kRoom);
  for (int i = 8; i < 10; ++i) send(to, i, other);
  for (int i = 10; i < 12; ++i) send(to, i, split);
  MPI_Session_detach_buffer_c(session, &address, &large);
  CHECK(address == first && large == kRoom, "MPI_Session_detach_buffer_c gave another buffer");
  MPI_Buffer_detach(&address, &size);
  CHECK(address == second && size == kRoom, "MPI_Buffer_detach gave another buffer");
  refused(to, duplicate, "after MPI_Session_detach_buffer");

  MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0);
  for (int i = 12; i < 18; ++i) send(to, i, duplicate);
  MPI_Session_flush_buffer(session);
  if (in_inter >= 0) send(in_inter, 18, inter);
  MPI_Session_detach_buffer(session, &address, &size);
  MPI_Session_flush_buffer(session);
  free(first);
  free(second);
}
#else
static const int able = 0;
static void send_all(int to, MPI_Session session, int in_inter) {
  (void)to, (void)session, (void)in_inter;
}
#endif

/* Each communicator's messages come in the order in which they went. */
static void receive_all(int from, int in_inter) {
  for (int i = 0; i < 19; ++i) {
    const int on_split = i == 1 || i == 4 || i == 5 || i == 10 || i == 11;
    MPI_Comm comm = on_split ? split : i == 2 || i >= 12 ? duplicate : world;
    if (i == 8 || i == 9) comm = other;
    if (i == 18 && in_inter < 0) continue;
    if (i == 18) comm = inter;
    MPI_Recv(data, kBytes, MPI_CHAR, i == 18 ? in_inter : from, i, comm, MPI_STATUS_IGNORE);
    for (int k = 0; k < kBytes; k += 997)
      CHECK(data[k] == i, "byte %d of message %d from %d is %d", k, i, from, data[k]);
  }
}

/* Ranks 0 and 2 against the others; a member of the other side is its rank less one, or two. */
static int side_of(int rank) { return rank == 0 || rank == 2 ? 0 : 1; }
static int place(int rank) { return rank == 0 ? 0 : rank == 2 ? 1 : rank == 1 ? 0 : rank - 2; }

static void make_inter(MPI_Session session, int rank, int size) {
  MPI_Group all, mine, others;
  int first[64], second[64], counts[2] = {0, 0};
  for (int r = 0; r < size; ++r) (side_of(r) ? second : first)[counts[side_of(r)]++] = r;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_incl(all, counts[0], first, side_of(rank) ? &others : &mine);
  MPI_Group_incl(all, counts[1], second, side_of(rank) ? &mine : &others);
  MPI_Intercomm_create_from_groups(mine, 0, others, 0, "inter", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                   &inter);
  MPI_Group_free(&all);
  MPI_Group_free(&mine);
  MPI_Group_free(&others);
}

int main(void) {
  MPI_Session session, another;
  int rank, size;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &another);
  world = comm_of(session, "mpi://WORLD", "world");
  other = comm_of(another, "mpi://WORLD", "other");
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Comm_split(world, 0, rank, &split);
  MPI_Comm_dup(split, &duplicate);
  make_inter(session, rank, size);
  for (int s = 0; s < size; ++s) {
    int sends = able;
    MPI_Bcast(&sends, 1, MPI_INT, s, world);
    for (int r = 0; r < size && sends; ++r) {
      const int across = side_of(s) != side_of(r);
      if (r == s) continue;
      if (rank == s) send_all(r, session, across ? place(r) : -1);
      if (rank == r) receive_all(s, across ? place(s) : -1);
    }
    MPI_Barrier(world);
  }
  if (able && rank == size - 1) {
    /* The rest is sent before the session ends. */
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0);
    send(0, 19, duplicate);
#endif
  }
  int sends = able;
  MPI_Bcast(&sends, 1, MPI_INT, size - 1, world);
  if (rank == 0 && sends) {
    MPI_Recv(data, kBytes, MPI_CHAR, size - 1, 19, duplicate, MPI_STATUS_IGNORE);
    CHECK(data[kBytes - 1] == 19, "the last byte is %d", data[kBytes - 1]);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&duplicate);
  MPI_Comm_free(&split);
  MPI_Comm_disconnect(&world);
  MPI_Comm_disconnect(&other);
  MPI_Session_finalize(&session);
  MPI_Session_finalize(&another);
  if (rank == 0) printf("buffers of sessions: passed\n");
  return 0;
}
