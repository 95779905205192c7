/* Messages of every kind of data, in every form, between clusters whose processors differ. */
#include "kinds.h"

static char out[ROOM * 4], in[ROOM * 4];
static int mate; /* in the other cluster */

static void to(int other, const struct kind* k, int count, int tag) {
  fill_kind(k, out, count, rank);
  MPI_Send(out, count, k->type, other, tag, WORLD);
}
static void from(int other, const struct kind* k, int count, int tag, const char* what) {
  MPI_Status status;
  clear(in, sizeof in);
  MPI_Recv(in, count, k->type, other, tag, WORLD, &status);
  check_status(&status, other, tag, count, k->type, what);
  check_kind(k, in, count, other, what);
}

/* Each rank to each other one, so inside clusters, too. */
static void everywhere(const struct kind* k) {
  for (int a = 0; a < size; ++a) {
    for (int b = 0; b < size; ++b) {
      if (a == b) continue;
      if (rank == a) to(b, k, BLOCK, 1);
      if (rank == b) from(a, k, BLOCK, 1, "MPI_Send");
    }
  }
}

static void forms_of_sends(const struct kind* k) {
  static char attached[ROOM * 4 + MPI_BSEND_OVERHEAD];
  MPI_Request requests[4];
  void* detached;
  int bytes;
  fill_kind(k, out, BLOCK, rank);
  MPI_Barrier(WORLD);
  if (rank < 2) {
    MPI_Ssend(out, BLOCK, k->type, mate, 1, WORLD);
    MPI_Isend(out, BLOCK, k->type, mate, 2, WORLD, &requests[0]);
    MPI_Issend(out, BLOCK, k->type, mate, 3, WORLD, &requests[1]);
    for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Bsend(out, BLOCK, k->type, mate, 4, WORLD);
    MPI_Buffer_detach(&detached, &bytes);
    MPI_Send_init(out, BLOCK, k->type, mate, 5, WORLD, &requests[0]);
    for (int i = 0; i < 2; ++i) {
      MPI_Start(&requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    /* Its data stays the program's, as it was. */
    check_kind(k, out, BLOCK, rank, "a buffer that was sent");
  } else {
    from(mate, k, BLOCK, 1, "MPI_Ssend");
    MPI_Status status;
    clear(in, sizeof in);
    MPI_Irecv(in, BLOCK, k->type, MPI_ANY_SOURCE, 2, WORLD, &requests[0]);
    MPI_Wait(&requests[0], &status);
    check_status(&status, mate, 2, BLOCK, k->type, "MPI_Irecv from any source");
    check_kind(k, in, BLOCK, mate, "MPI_Irecv from any source");
    MPI_Probe(mate, 3, WORLD, &status);
    check_status(&status, mate, 3, BLOCK, k->type, "MPI_Probe");
    from(mate, k, BLOCK, 3, "MPI_Issend");
    MPI_Message message;
    MPI_Mprobe(MPI_ANY_SOURCE, 4, WORLD, &message, MPI_STATUS_IGNORE);
    clear(in, sizeof in);
    MPI_Mrecv(in, BLOCK, k->type, &message, MPI_STATUS_IGNORE);
    check_kind(k, in, BLOCK, mate, "MPI_Mrecv of MPI_Bsend");
    MPI_Recv_init(in, BLOCK, k->type, mate, 5, WORLD, &requests[0]);
    for (int i = 0; i < 2; ++i) {
      clear(in, sizeof in);
      MPI_Start(&requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      check_kind(k, in, BLOCK, mate, "MPI_Recv_init");
    }
    MPI_Request_free(&requests[0]);
  }
}

static void exchanges(const struct kind* k) {
  fill_kind(k, out, BLOCK, rank);
  clear(in, sizeof in);
  MPI_Sendrecv(out, BLOCK, k->type, mate, 6, in, BLOCK, k->type, mate, 6, WORLD, MPI_STATUS_IGNORE);
  check_kind(k, in, BLOCK, mate, "MPI_Sendrecv");
  MPI_Sendrecv_replace(out, BLOCK, k->type, mate, 7, mate, 7, WORLD, MPI_STATUS_IGNORE);
  check_kind(k, out, BLOCK, mate, "MPI_Sendrecv_replace");
  /* To the one cluster and from the other. */
  fill_kind(k, out, BLOCK, rank);
  MPI_Sendrecv_replace(out, BLOCK, k->type, (rank + 1) % size, 8, (rank + size - 1) % size, 8,
                       WORLD, MPI_STATUS_IGNORE);
  check_kind(k, out, BLOCK, (rank + size - 1) % size, "MPI_Sendrecv_replace in a ring");
}

#if MPI_VERSION >= 4
static void partitions(const struct kind* k, int senders, int receivers) {
  MPI_Request request;
  MPI_Info info = MPI_INFO_NULL;
  if (rank < 2) {
    MPI_Psend_init(out, senders, BLOCK / senders, k->type, mate, 9, WORLD, info, &request);
  } else {
    MPI_Precv_init(in, receivers, BLOCK / receivers, k->type, mate, 9, WORLD, info, &request);
  }
  for (int round = 0; round < 2; ++round) {
    fill_kind(k, out, BLOCK, rank);
    clear(in, sizeof in);
    MPI_Start(&request);
    for (int i = 0; rank < 2 && i < senders; ++i) MPI_Pready(senders - 1 - i, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank >= 2) check_kind(k, in, BLOCK, mate, "a partitioned message");
  }
  MPI_Request_free(&request);
}
#endif

/* Fewer elements than the receive has room for, and more. */
static void sizes(const struct kind* k) {
  MPI_Status status;
  if (rank < 2) {
    to(mate, k, 2, 10);
    to(mate, k, 0, 11);
    to(mate, k, 3, 12);
    return;
  }
  clear(in, sizeof in);
  char untouched[16];
  clear(untouched, sizeof untouched);
  MPI_Recv(in, BLOCK, k->type, mate, 10, WORLD, &status);
  check_status(&status, mate, 10, 2, k->type, "a short message");
  check_kind(k, in, 2, mate, "a short message");
  CHECK(memcmp(in + 2 * k->extent + k->part[0].place, untouched, 1) == 0,
        "%s: a receive wrote behind its message", k->name);
  MPI_Recv(in, BLOCK, k->type, mate, 11, WORLD, &status);
  check_status(&status, mate, 11, 0, k->type, "an empty message");
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  int class = MPI_SUCCESS;
  clear(in, sizeof in);
  MPI_Error_class(MPI_Recv(in, 1, k->type, mate, 12, WORLD, MPI_STATUS_IGNORE), &class);
  CHECK(class == MPI_ERR_TRUNCATE, "%s: class %d of a long message", k->name, class);
  check_kind(k, in, 1, mate, "a message that is too long");
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static void at_addresses(const struct kind* k) {
  MPI_Datatype placed;
  int lengths[] = {BLOCK};
  MPI_Aint places[1];
  MPI_Get_address(rank < 2 ? out : in, &places[0]);
  MPI_Type_create_hindexed(1, lengths, places, k->type, &placed);
  MPI_Type_commit(&placed);
  if (rank < 2) {
    fill_kind(k, out, BLOCK, rank);
    MPI_Send(MPI_BOTTOM, 1, placed, mate, 13, WORLD);
  } else {
    clear(in, sizeof in);
    MPI_Recv(MPI_BOTTOM, 1, placed, mate, 13, WORLD, MPI_STATUS_IGNORE);
    check_kind(k, in, BLOCK, mate, "MPI_BOTTOM");
  }
  MPI_Type_free(&placed);
}

/* Packed by all, unpacked by all; and packed at one end alone. */
static void packed(const struct kind* k) {
  static char parcel[ROOM * 8];
  int room = 0, first = 0, position = 0;
  MPI_Pack_size(BLOCK, k->type, WORLD, &room);
  MPI_Pack_size(1, MPI_INT, WORLD, &first);
  room += first;
  fill_kind(k, out, BLOCK, rank);
  int number;
  hold('i', rank, (char*)&number);
  MPI_Pack(&number, 1, MPI_INT, parcel, room, &position, WORLD);
  MPI_Pack(out, BLOCK, k->type, parcel, room, &position, WORLD);
  for (int other = 0; other < size; ++other) {
    if (other == rank) continue;
    static char come[ROOM * 8];
    MPI_Status status;
    int bytes = 0, at = 0, found = 0, expected;
    MPI_Sendrecv(parcel, position, MPI_PACKED, other, 14, come, sizeof come, MPI_PACKED, other, 14,
                 WORLD, &status);
    MPI_Get_count(&status, MPI_PACKED, &bytes);
    clear(in, sizeof in);
    MPI_Unpack(come, bytes, &at, &found, 1, MPI_INT, WORLD);
    MPI_Unpack(come, bytes, &at, in, BLOCK, k->type, WORLD);
    hold('i', other, (char*)&expected);
    CHECK(found == expected && at == bytes, "MPI_Unpack of %s", k->name);
    check_kind(k, in, BLOCK, other, "MPI_Unpack");
  }
  position = 0;
  if (rank < 2) {
    MPI_Pack(out, BLOCK, k->type, parcel, room, &position, WORLD);
    MPI_Send(parcel, position, MPI_PACKED, mate, 15, WORLD);
    MPI_Send(out, BLOCK, k->type, mate, 16, WORLD);
  } else {
    from(mate, k, BLOCK, 15, "a packed message");
    MPI_Recv(parcel, room, MPI_PACKED, mate, 16, WORLD, MPI_STATUS_IGNORE);
    clear(in, sizeof in);
    MPI_Unpack(parcel, room, &position, in, BLOCK, k->type, WORLD);
    check_kind(k, in, BLOCK, mate, "MPI_Unpack of a message that was not packed");
  }
}

/* Longer than a frame, so that it is matched first. */
static void large(void) {
  enum { COUNT = 100000 };
  const struct kind k = basic_kind("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, "L");
  char* const data = malloc(16 * COUNT);
  if (rank == 0) {
    fill_kind(&k, data, COUNT, 5);
    MPI_Send(data, COUNT, k.type, 2, 17, WORLD);
    MPI_Recv(data, COUNT, k.type, 2, 18, WORLD, MPI_STATUS_IGNORE);
    check_kind(&k, data, COUNT, 6, "a large message");
  } else if (rank == 2) {
    MPI_Recv(data, COUNT, k.type, 0, 17, WORLD, MPI_STATUS_IGNORE);
    check_kind(&k, data, COUNT, 5, "a large message");
    fill_kind(&k, data, COUNT, 6);
    MPI_Send(data, COUNT, k.type, 0, 18, WORLD);
  }
  free(data);
}

int main(int argc, char** argv) {
  start_kinds(argc, argv);
  mate = (rank + 2) % 4;
  make_kinds();
  int all_have_partitions = 1;
  for (int r = 0; r < size; ++r) {
    char has = MPI_VERSION >= 4;
    MPI_Bcast(&has, 1, MPI_CHAR, r, WORLD);
    all_have_partitions = all_have_partitions && has;
  }
  for (int i = 0; i < number_of_kinds; ++i) {
    everywhere(&kinds[i]);
    forms_of_sends(&kinds[i]);
    exchanges(&kinds[i]);
    sizes(&kinds[i]);
    at_addresses(&kinds[i]);
    packed(&kinds[i]);
#if MPI_VERSION >= 4
    if (!all_have_partitions) continue;
    partitions(&kinds[i], 2, 2);
    partitions(&kinds[i], 4, 2);
    partitions(&kinds[i], 1, 4);
#endif
  }
  large();
  free_kinds();
  return finish("messages");
}
