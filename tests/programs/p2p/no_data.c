/* Calls with no data and any datatype, also MPI_DATATYPE_NULL and one that is not committed. Over a
   communicator that spans clusters they end as the native library's calls do. The program asks that
   library what it says of messages; the rest is the same with all libraries.
   ranks: 2 3 */
#include "../file/file.h"

static int next, before;
static MPI_Comm comm, self;

/* Returns the native library's answer: the same everywhere, or -1. */
static int native_answer(MPI_Datatype type) {
  int mine = class_of(MPI_Send(NULL, 0, type, MPI_PROC_NULL, 0, self)), least, most;
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return least == most ? least : -1;
}

#define SAME(call, answer)                                                      \
  do {                                                                          \
    const int code_ = class_of(call);                                           \
    CHECK(code_ == (answer), #call " gives class %d, not %d", code_, (answer)); \
  } while (0)

static void messages(MPI_Datatype type) {
  const int answer = native_answer(type);
  if (answer < 0) return; /* some would wait for others that refuse */
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  int elements = -1;
  SAME(MPI_Send(NULL, 0, type, next, 0, comm), answer);
  SAME(MPI_Recv(NULL, 0, type, before, 0, comm, &status), answer);
  if (answer == MPI_SUCCESS) {
    MPI_Get_count(&status, MPI_INT, &elements);
    CHECK(elements == 0, "%d elements have come", elements);
  }
  SAME(MPI_Isend(NULL, 0, type, next, 0, comm, &requests[0]), answer);
  SAME(MPI_Irecv(NULL, 0, type, MPI_ANY_SOURCE, 0, comm, &requests[1]), answer);
  SAME(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  SAME(MPI_Sendrecv(NULL, 0, type, next, 0, NULL, 0, type, before, 0, comm, MPI_STATUS_IGNORE),
       answer);
  SAME(MPI_Sendrecv_replace(NULL, 0, type, next, 0, before, 0, comm, MPI_STATUS_IGNORE), answer);
  SAME(MPI_Irecv(NULL, 0, type, before, 0, comm, &requests[1]), answer);
  SAME(MPI_Issend(NULL, 0, type, next, 0, comm, &requests[0]), answer);
  SAME(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  if (answer != MPI_SUCCESS) return;
  MPI_Send_init(NULL, 0, type, next, 0, comm, &requests[0]);
  MPI_Recv_init(NULL, 0, type, before, 0, comm, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    SAME(MPI_Startall(2, requests), MPI_SUCCESS);
    SAME(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

/* All libraries refuse these (MPICH ends the program, or does nothing, in a broadcast and in
   reductions), so the native ones are not asked. */
static void collectives(void) {
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  int here[8] = {0}, there[8] = {0}, zeros[8] = {0};
  MPI_Request request;
  SAME(MPI_Gather(here, 0, none, there, 0, none, 0, comm), MPI_ERR_TYPE);
  SAME(MPI_Scatterv(there, zeros, zeros, none, here, 0, none, 0, comm), MPI_ERR_TYPE);
  SAME(MPI_Allgather(here, 0, none, there, 0, none, comm), MPI_ERR_TYPE);
  SAME(MPI_Alltoall(here, 0, none, there, 0, none, comm), MPI_ERR_TYPE);
  SAME(MPI_Ialltoallv(here, zeros, zeros, none, there, zeros, zeros, none, comm, &request),
       MPI_ERR_TYPE);
}

/* All libraries refuse these. */
static void packing(void) {
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  char packed[8] = {0}, data[8] = {0};
  int place = 0, length;
  MPI_Aint external = 0;
  SAME(MPI_Pack(data, 0, none, packed, 8, &place, comm), MPI_ERR_TYPE);
  SAME(MPI_Unpack(packed, 8, &place, data, 0, none, comm), MPI_ERR_TYPE);
  SAME(MPI_Pack_size(0, none, comm, &length), MPI_ERR_TYPE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  SAME(MPI_Pack_external("external32", data, 0, none, packed, 8, &external), MPI_ERR_TYPE);
  SAME(MPI_Unpack_external("external32", packed, 8, &external, data, 0, none), MPI_ERR_TYPE);
  SAME(MPI_Pack_external_size("external32", 0, none, &external), MPI_ERR_TYPE);
}

static void files(void) {
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  char data[8] = {0};
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  SAME(MPI_File_open(comm, fresh_name("no-data"),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file),
       MPI_SUCCESS);
  SAME(MPI_File_write(file, data, 0, none, &status), MPI_ERR_TYPE);
  SAME(MPI_File_read_at(file, 0, data, 0, none, &status), MPI_ERR_TYPE);
  SAME(MPI_File_write_at_all(file, 0, data, 0, none, &status), MPI_ERR_TYPE);
  SAME(MPI_File_iwrite(file, data, 0, none, &request), MPI_ERR_TYPE);
  SAME(MPI_File_iread_all(file, data, 0, none, &request), MPI_ERR_TYPE);
  SAME(MPI_File_write_shared(file, data, 0, none, &status), MPI_ERR_TYPE);
  SAME(MPI_File_read_ordered(file, data, 0, none, &status), MPI_ERR_TYPE);
  SAME(MPI_File_write_all_begin(file, data, 0, none), MPI_ERR_TYPE);
  MPI_File_close(&file);
}

static void windows(void) {
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  int memory[8] = {0}, got = -1;
  MPI_Win win;
  MPI_Request request;
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comm, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  SAME(MPI_Put(memory, 0, none, next, 0, 0, none, win), MPI_ERR_TYPE);
  SAME(MPI_Get(memory, 0, MPI_INT, next, 0, 0, none, win), MPI_ERR_TYPE);
  SAME(MPI_Accumulate(memory, 0, none, next, 0, 0, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
  SAME(MPI_Rput(memory, 0, none, next, 0, 0, none, win, &request), MPI_ERR_TYPE);
  SAME(MPI_Rget(memory, 0, none, next, 0, 0, MPI_INT, win, &request), MPI_ERR_TYPE);
  SAME(MPI_Raccumulate(memory, 0, none, next, 0, 0, none, MPI_SUM, win, &request), MPI_ERR_TYPE);
  SAME(MPI_Get_accumulate(NULL, 0, none, &got, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_NO_OP, win),
       MPI_SUCCESS);
  MPI_Win_unlock_all(win);
  CHECK(got == 0, "fetched %d", got);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  next = (rank + 1) % size;
  before = (rank + size - 1) % size;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  MPI_Datatype uncommitted;
  MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
  messages(MPI_DATATYPE_NULL);
  messages(uncommitted);
  messages(MPI_INT);
  packing();
  files();
  if (spans_clusters(MPI_COMM_WORLD)) {
    windows();
    collectives();
  }
  MPI_Type_free(&uncommitted);
  MPI_Comm_free(&self);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
