/* Collective writes of many small interleaved pieces, in all their forms. The file has what views
   say, and the home's processes make few system calls for it. If one write fails, all processes get
   the error. ranks: 2 3 4 */
#include "file.h"

enum { kPiece = 64, kPieces = 10000, kMine = kPiece * kPieces };

/* Calls that write, of this process; -1: the system does not tell. */
static long calls(void) {
  FILE* about = fopen("/proc/self/io", "r");
  char line[128];
  long found = -1;
  while (about && fgets(line, sizeof line, about)) sscanf(line, "syscw: %ld", &found);
  if (about) fclose(about);
  return found;
}

/* Selects every `mine`th of `ranks` pieces. */
static void see(MPI_File file, int mine, int ranks) {
  MPI_Datatype piece, tile;
  MPI_Type_contiguous(kPiece, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, (MPI_Aint)kPiece * ranks, &tile);
  MPI_Type_commit(&tile);
  OK(MPI_File_set_view(file, 8 + (MPI_Offset)kPiece * mine, MPI_BYTE, tile, "native",
                       MPI_INFO_NULL));
  MPI_Type_free(&tile);
  MPI_Type_free(&piece);
}

static char of(int piece, int ranks) { return (char)(1 + piece % ranks * 31 + piece % 7); }

/* Each looks at its share of the file, which has pieces of all; the last one looks behind its end.
   Unwritten bytes are zero on a grid; native libraries may leave there what was in their buffers.
 */
static void check_file(MPI_File file, int ranks) {
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_sync(file));
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  const int whole = 8 + kMine * ranks;
  /* The last piece is nobody's where there is a hole. */
  const int end = ranks == size ? whole : whole - kPiece;
  const int from = end / size * rank, last = rank == size - 1;
  const int share = last ? end - from : end / size, asked = last ? share + kPiece : share;
  char* const found = malloc((size_t)asked);
  MPI_Status status;
  OK(MPI_File_read_at(file, from, found, asked, MPI_BYTE, &status));
  int count;
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(count == share, "%d bytes of %d", count, share);
  const int zeros = spans_clusters(MPI_COMM_WORLD);
  for (int k = from; k < from + count; ++k) {
    const int piece = (k - 8) / kPiece;
    const int hole = k < 8 || piece % ranks == size;
    if (hole && !zeros) continue;
    const char expected = hole ? 0 : of(piece, ranks);
    CHECK(found[k - from] == expected, "byte %d is %d, not %d", k, found[k - from], expected);
  }
  free(found);
}

enum { kBlocking, kNonBlocking, kSplit, kForms };

/* By the pointer. */
static int put(MPI_File file, int form, const char* data, int bytes, MPI_Status* status) {
  if (form == kBlocking) return MPI_File_write_all(file, data, bytes, MPI_BYTE, status);
  MPI_Request request;
  const int code = form == kSplit ? MPI_File_write_all_begin(file, data, bytes, MPI_BYTE)
                                  : MPI_File_iwrite_all(file, data, bytes, MPI_BYTE, &request);
  if (code != MPI_SUCCESS) return code;
  return form == kSplit ? MPI_File_write_all_end(file, data, status) : MPI_Wait(&request, status);
}

static int put_at(MPI_File file, int form, MPI_Offset place, const char* data, int bytes,
                  MPI_Status* status) {
  if (form == kBlocking) return MPI_File_write_at_all(file, place, data, bytes, MPI_BYTE, status);
  MPI_Request request;
  const int code = form == kSplit
                       ? MPI_File_write_at_all_begin(file, place, data, bytes, MPI_BYTE)
                       : MPI_File_iwrite_at_all(file, place, data, bytes, MPI_BYTE, &request);
  if (code != MPI_SUCCESS) return code;
  return form == kSplit ? MPI_File_write_at_all_end(file, data, status)
                        : MPI_Wait(&request, status);
}

/* The whole in several writes that are under way together. If the first is not worth gathering, the
   others are not either. They do not know this when they begin. */
static void together(MPI_File file, const char* mine, int first) {
  enum { kParts = 4 };
  MPI_Request requests[kParts + 1];
  MPI_Status statuses[kParts + 1];
  OK(MPI_File_iwrite_at_all(file, 0, mine, first, MPI_BYTE, &requests[kParts]));
  for (int part = 0; part < kParts; ++part) {
    const int from = kMine / kParts * part;
    OK(MPI_File_iwrite_at_all(file, from, mine + from, kMine / kParts, MPI_BYTE, &requests[part]));
  }
  int number = -1;
  MPI_Allreduce(&rank, &number, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(number == size - 1, "rank %d is the last", number);
  OK(MPI_Waitall(kParts + 1, requests, statuses));
  check_count(&statuses[kParts], MPI_BYTE, first, "written first");
  for (int part = 0; part < kParts; ++part)
    check_count(&statuses[part], MPI_BYTE, kMine / kParts, "written together");
}

static void once(int share, int hole, int form) {
  const char* name = fresh_name("gathered");
  MPI_Info info = hints(share);
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  MPI_Info_free(&info);
  const int ranks = size + hole;
  see(file, rank, ranks);
  char* const mine = malloc(kMine);
  for (int k = 0; k < kMine; ++k) mine[k] = of(k / kPiece * ranks + rank, ranks);

  const long before = calls();
  MPI_Status status;
  OK(put(file, form, mine, kMine / 2, &status));
  check_count(&status, MPI_BYTE, kMine / 2, "written");
  const long made = calls() - before;
  if (!hole && before >= 0 && spans_clusters(MPI_COMM_WORLD))
    CHECK(made < kPieces / 4, "%ld calls", made);
  MPI_Offset position;
  OK(MPI_File_get_position(file, &position));
  CHECK(position == kMine / 2, "at %lld", (long long)position);
  OK(put_at(file, form, kMine / 2, mine + kMine / 2, kMine / 2, &status));
  check_count(&status, MPI_BYTE, kMine / 2, "written");
  check_file(file, ranks);

  /* One has nothing, and few have little: each writes its own. */
  see(file, rank, ranks);
  OK(put(file, form, mine, rank == 0 ? 0 : kPiece, &status));
  OK(put_at(file, form, 0, mine, kMine, &status));
  check_file(file, ranks);

  if (form == kNonBlocking) {
    see(file, rank, ranks);
    together(file, mine, kMine);
    check_file(file, ranks);
    see(file, rank, ranks);
    together(file, mine, kPiece);
    check_file(file, ranks);
  }

  if (spans_clusters(MPI_COMM_WORLD)) {
    /* The last one's part is wrong: the others' are written. Some native libraries do not look at
       it, and some wait for the one that failed. */
    see(file, rank, ranks);
    const int wrong = rank == size - 1;
    const int code = put_at(file, form, wrong ? -1 : 0, mine, kMine, &status);
    CHECK(class_of(code) == (wrong ? MPI_ERR_ARG : MPI_SUCCESS), "class %d", class_of(code));
    check_file(file, ranks);
  }
  free(mine);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
}

/* A non-blocking one that is not worth gathering is written while nobody waits for it: the home's
   process sees it in the file. */
static void at_once(int share) {
  const char* name = fresh_name("at-once");
  MPI_Info info = hints(share);
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  MPI_Info_free(&info);
  see(file, rank, size);
  char mine[kPiece];
  memset(mine, 'a' + rank, sizeof mine);
  MPI_Request request;
  MPI_Status status;
  OK(MPI_File_iwrite_at_all(file, 0, mine, kPiece, MPI_BYTE, &request));
  enum { kNotYet, kWritten, kNever } seen = kNotYet;
  const double begun = MPI_Wtime();
  while (seen == kNotYet) {
    if (rank == 0) {
      FILE* found = fopen(name, "r");
      int of_all = 0;
      for (int r = 0; r < size && fseek(found, 8 + kPiece * r, SEEK_SET) == 0; ++r)
        of_all += fgetc(found) == 'a' + r;
      fclose(found);
      seen = of_all == size ? kWritten : MPI_Wtime() - begun > 60 ? kNever : kNotYet;
    }
    MPI_Bcast(&seen, sizeof seen, MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  CHECK(seen == kWritten, "nothing is written before somebody waits");
  OK(MPI_Wait(&request, &status));
  check_count(&status, MPI_BYTE, kPiece, "written");
  OK(MPI_File_close(&file));
  if (rank == 0) MPI_File_delete(name, MPI_INFO_NULL);
}

static void full(int form) {
  MPI_Info info = hints(0);
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, info, &file));
  MPI_Info_free(&info);
  see(file, rank, size);
  char* const mine = calloc(kMine, 1);
  const int code = put(file, form, mine, kMine, MPI_STATUS_IGNORE);
  CHECK(class_of(code) == MPI_ERR_NO_SPACE, "class %d", class_of(code));
  MPI_Offset position;
  OK(MPI_File_get_position(file, &position));
  /* Others than blocking ones have moved it when they began. */
  CHECK(position == (form == kBlocking ? 0 : kMine), "at %lld", (long long)position);
  free(mine);
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  static const char* const names[kForms] = {"blocking", "non-blocking", "split"};
  for (int form = 0; form < kForms; ++form) {
    at = names[form];
    for (int share = 0; share < 2; ++share) {
      once(share, 0, form);
      once(share, 1, form);
      if (form == kNonBlocking && spans_clusters(MPI_COMM_WORLD)) at_once(share);
    }
    if (spans_clusters(MPI_COMM_WORLD)) full(form);
  }
  return finish("gathered");
}
