/* The figures of `isthmus bench io`, for any MPI. A file in rank 0's cluster is accessed by the
 * last rank; of what is collective, by all, each of which has BYTES. usage: io FOLDER TASK...
 *
 *   OPERATION:BYTES:ROUNDS
 *   inside-OPERATION:BYTES:ROUNDS  by ranks 0 and 1; the others have nothing to read or write
 *
 *   message        one of BYTES to rank 0, and an empty one back: others are compared with it
 *   write-all, read-all
 *                  collective, each rank's bytes in one piece
 *   write-strided, read-strided
 *                  collective, in pieces of 4 KiB, those of the ranks in turn
 *   write, read    one rank's, 1 MiB at a time
 *   random         reads of 4 KiB anywhere, 64 under way
 *
 * Writes are timed with MPI_File_get_size after them, which tells that they have come there.
 * Rank 0 prints a line of JSON for each task as soon as it is done. The line has the task's text
 * and the seconds of each round, which are the slowest rank's. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_UP = 1, BLOCK = 4096, CHUNK = 1 << 20, UNDER_WAY = 64 };

static int rank, size, actors, me; /* ranks that access the file; this one among them, or -1 */
static char *data, path[4096];
static MPI_Offset bytes;
static MPI_File file;

static void fail(const char* text, const char* why) {
  fprintf(stderr, "io: \"%s\": %s\n", text, why);
  MPI_Abort(MPI_COMM_WORLD, 2);
}
static void check(int code, const char* doing) {
  if (code == MPI_SUCCESS) return;
  char why[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, why, &length);
  fail(doing, why);
}

/* The rank that accesses the file where one does. */
static int alone(void) { return me == actors - 1; }

static void message(void) {
  if (rank == 0) {
    MPI_Recv(data, (int)bytes, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD);
  } else if (rank == size - 1) {
    MPI_Send(data, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void written(void) {
  MPI_Offset there;
  if (me >= 0) check(MPI_File_get_size(file, &there), "the size");
}
static void write_all(void) {
  const int mine = me < 0 ? 0 : (int)bytes;
  check(MPI_File_write_at_all(file, mine ? me * bytes : 0, data, mine, MPI_BYTE, MPI_STATUS_IGNORE),
        "a collective write");
  written();
}
static void read_all(void) {
  const int mine = me < 0 ? 0 : (int)bytes;
  check(MPI_File_read_at_all(file, mine ? me * bytes : 0, data, mine, MPI_BYTE, MPI_STATUS_IGNORE),
        "a collective read");
}
/* The view of these is strided. */
static void write_strided(void) {
  const int mine = me < 0 ? 0 : (int)bytes;
  check(MPI_File_write_at_all(file, 0, data, mine, MPI_BYTE, MPI_STATUS_IGNORE), "a strided write");
  written();
}
static void read_strided(void) {
  const int mine = me < 0 ? 0 : (int)bytes;
  check(MPI_File_read_at_all(file, 0, data, mine, MPI_BYTE, MPI_STATUS_IGNORE), "a strided read");
}

static void write_(void) {
  if (!alone()) return;
  check(MPI_File_seek(file, 0, MPI_SEEK_SET), "the pointer");
  for (MPI_Offset at = 0; at < bytes; at += CHUNK) {
    check(MPI_File_write(file, data + at, CHUNK, MPI_BYTE, MPI_STATUS_IGNORE), "a write");
  }
  written();
}
static void read_(void) {
  if (!alone()) return;
  check(MPI_File_seek(file, 0, MPI_SEEK_SET), "the pointer");
  for (MPI_Offset at = 0; at < bytes; at += CHUNK) {
    check(MPI_File_read(file, data + at, CHUNK, MPI_BYTE, MPI_STATUS_IGNORE), "a read");
  }
}
static void random_(void) {
  if (!alone()) return;
  MPI_Request requests[UNDER_WAY];
  for (int i = 0; i < UNDER_WAY; ++i) requests[i] = MPI_REQUEST_NULL;
  const unsigned blocks = (unsigned)(bytes / BLOCK);
  for (unsigned i = 0; i < blocks; ++i) {
    int slot = (int)i;
    if (i >= UNDER_WAY) MPI_Waitany(UNDER_WAY, requests, &slot, MPI_STATUS_IGNORE);
    /* Every block once, none after its neighbour. */
    const MPI_Offset at = (MPI_Offset)((i * 2654435761u) % blocks) * BLOCK;
    check(MPI_File_iread_at(file, at, data + at, BLOCK, MPI_BYTE, &requests[slot]), "a read");
  }
  MPI_Waitall(UNDER_WAY, requests, MPI_STATUSES_IGNORE);
}

static const struct {
  const char* name;
  void (*once)(void);
} operations[] = {{"message", message},
                  {"write-all", write_all},
                  {"read-all", read_all},
                  {"write-strided", write_strided},
                  {"read-strided", read_strided},
                  {"write", write_},
                  {"read", read_},
                  {"random", random_}};

static void see(int strided) {
  MPI_Datatype type = MPI_BYTE;
  MPI_Offset from = 0;
  if (strided && me >= 0) {
    MPI_Datatype block;
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)BLOCK * actors, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&block);
    from = (MPI_Offset)me * BLOCK;
  }
  check(MPI_File_set_view(file, from, MPI_BYTE, type, "native", MPI_INFO_NULL), "a view");
  if (type != MPI_BYTE) MPI_Type_free(&type);
}

/* Reads find data, whatever was written before: memory that nobody wrote costs less to read. */
static void prepare(void (*once)(void), MPI_Offset whole) {
  MPI_Offset there;
  check(MPI_File_get_size(file, &there), "the size");
  MPI_Barrier(MPI_COMM_WORLD); /* all have looked */
  if (there >= whole) return;
  if (once == read_all) write_all();
  if (once == read_strided) write_strided();
  if (once == read_ || once == random_) write_();
}

static void run(const char* text) {
  char name[32], rest;
  long long wanted = 0;
  int rounds = 0;
  const int n = sscanf(text, "%31[-a-z]:%lld:%d%c", name, &wanted, &rounds, &rest);
  if (n != 3 || wanted < 1 || wanted > 1 << 30 || rounds < 1) fail(text, "is not a task");
  const int inside = strncmp(name, "inside-", 7) == 0;
  const char* const operation = name + (inside ? 7 : 0);
  void (*once)(void) = NULL;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(operations[i].name, operation) == 0) once = operations[i].once;
  }
  if (!once) fail(text, "is not a task");
  bytes = wanted;
  actors = inside ? 2 : size;
  me = rank < actors ? rank : -1;
  data = malloc((size_t)bytes);
  double* const seconds = malloc(sizeof(double) * (size_t)rounds);
  if (!data || !seconds) fail(text, "not enough memory");
  memset(data, 'a' + rank % 26, (size_t)bytes);
  see(strstr(name, "strided") != NULL);
  prepare(once, once == read_ || once == random_ ? bytes : bytes * actors);
  for (int i = -WARM_UP; i < rounds; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    once();
    const double mine = me < 0 ? 0 : MPI_Wtime() - start;
    double all;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (i >= 0) seconds[i] = all;
  }
  MPI_Barrier(MPI_COMM_WORLD); /* what comes now takes processors from those that are timed */
  if (rank == 0) {
    printf("{\"task\":\"%s\",\"seconds\":[", text);
    for (int i = 0; i < rounds; ++i) printf("%s%.9g", i ? "," : "", seconds[i]);
    printf("]}\n");
    fflush(stdout);
  }
  free(seconds);
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) fail("size", "at least two ranks are needed");
  if (argc < 2) fail("usage", "io FOLDER TASK...");
  if (rank == 0) snprintf(path, sizeof path, "%s/isthmus-bench-io-%ld", argv[1], (long)getpid());
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_share", "false"); /* the sites of a lab have one file system */
  const int mode = MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
  check(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &file), path);
  MPI_Info_free(&info);
  for (int i = 2; i < argc; ++i) run(argv[i]);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
