/* Files that two runs have open together: `runs_files accept PORT FILE` and `runs_files connect
   PORT FILE`. A last argument `wrong` gives them different names; `die` ends the one that connects
   while the other waits in the file. */
#include <string.h>

#include "../../programs/comm/check.h"
#include "port_file.h"

enum { kBlock = 5000, kBlocks = 30 };
static int rank, size;

static void expect(int code, int class, const char* sentence) {
  char said[MPI_MAX_ERROR_STRING];
  int found, length;
  MPI_Error_class(code, &found);
  MPI_Error_string(code, said, &length);
  CHECK(found == class, "class %d: %s", found, said);
  CHECK(strstr(said, sentence) != NULL, "said: %s", said);
}

static MPI_File opened(MPI_Comm whole, const char* name, int mode, const char* share) {
  MPI_File file;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "isthmus_share", share);
  const int code = MPI_File_open(whole, name, mode, info, &file);
  char said[MPI_MAX_ERROR_STRING] = "";
  int length;
  if (code != MPI_SUCCESS) MPI_Error_string(code, said, &length);
  CHECK(code == MPI_SUCCESS, "%s is not opened: %s", name, said);
  MPI_Info_free(&info);
  MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  return file;
}

/* Blocks of all members in turn; then each reads its neighbour's, and the ordered end. */
static void write_and_read(MPI_Comm whole, const char* name, const char* share) {
  MPI_File file = opened(whole, name, MPI_MODE_CREATE | MPI_MODE_RDWR, share);
  MPI_Datatype mine;
  int* numbers = malloc(sizeof(int) * kBlock * kBlocks);
  MPI_File_set_size(file, 0);
  MPI_Type_vector(kBlocks, kBlock, kBlock * size, MPI_INT, &mine);
  MPI_Type_commit(&mine);
  for (int i = 0; i < kBlock * kBlocks; ++i) numbers[i] = rank * kBlock * kBlocks + i;
  MPI_File_set_view(file, (MPI_Offset)sizeof(int) * kBlock * rank, MPI_INT, mine, "native",
                    MPI_INFO_NULL);
  MPI_File_write_all(file, numbers, kBlock * kBlocks, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(whole);
  MPI_File_sync(file);
  const int next = (rank + 1) % size;
  MPI_File_set_view(file, (MPI_Offset)sizeof(int) * kBlock * next, MPI_INT, mine, "native",
                    MPI_INFO_NULL);
  memset(numbers, 0, sizeof(int) * kBlock * kBlocks);
  for (int block = 0; block < kBlocks; ++block)
    MPI_File_read(file, numbers + block * kBlock, kBlock, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < kBlock * kBlocks; ++i)
    CHECK(numbers[i] == next * kBlock * kBlocks + i, "number %d is %d", i, numbers[i]);
  MPI_Barrier(whole);
  MPI_File_set_view(file, (MPI_Offset)sizeof(int) * kBlock * kBlocks * size, MPI_INT, MPI_INT,
                    "native", MPI_INFO_NULL);
  MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_set_atomicity(file, 1);
  MPI_Barrier(whole);
  int back = -1;
  MPI_File_read_at(file, next, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(back == next, "rank %d wrote %d at its turn", next, back);
  MPI_File_close(&file);
  MPI_Type_free(&mine);
  free(numbers);
}

/* Names that lead to another run's cluster from processes of this one alone. */
static void alone(const char* name, MPI_File open) {
  char home[MPI_MAX_INFO_VAL + 1] = "", far[2000];
  int found = 0;
  MPI_Info info;
  MPI_File file;
  MPI_File_get_info(open, &info);
  MPI_Info_get(info, "isthmus_home", MPI_MAX_INFO_VAL, home, &found);
  MPI_Info_free(&info);
  CHECK(found, "the file does not tell its home");
  if (strchr(home, '@') == NULL) return;
  snprintf(far, sizeof far, "%s:%s", home, name);
  const int mode = MPI_MODE_RDONLY;
  expect(MPI_File_open(MPI_COMM_SELF, far, mode, MPI_INFO_NULL, &file),
         MPI_ERR_UNSUPPORTED_OPERATION, "in a cluster of another run");
  expect(MPI_File_delete(far, MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_OPERATION,
         "in a cluster of another run");
}

/* The first rank names a file of the other run's last cluster, which that run does not mean; then
   one that both mean. */
static void wrong(MPI_Comm whole, int first, const char* name) {
  char home[200] = "", far[1000];
  MPI_File file;
  const int last = size - 1, mode = MPI_MODE_RDWR | MPI_MODE_CREATE;
  if (rank == last) snprintf(home, sizeof home, "west@%s", getenv("ISTHMUS_JOB"));
  MPI_Bcast(home, sizeof home, MPI_CHAR, last, whole);
  snprintf(far, sizeof far, "%s:%s", home, first ? "/etc/hostname" : name);
  expect(MPI_File_open(whole, first ? far : name, mode, MPI_INFO_NULL, &file), MPI_ERR_ACCESS,
         "of another run, names the file /etc/hostname");
  snprintf(far, sizeof far, "%s:%s", home, name);
  CHECK(MPI_File_open(whole, first ? far : name, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS,
        "the same file is not opened");
  MPI_File_write_at_all(file, (MPI_Offset)sizeof(int) * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const int first = strcmp(argv[1], "accept") == 0;
  const char* name = argv[3];
  const char* how = argc > 4 ? argv[4] : "";
  char port[kName] = "";
  MPI_Comm inter, whole;
  if (world_rank == 0) (first ? open_port : read_port)(argv[2], port);
  (first ? MPI_Comm_accept : MPI_Comm_connect)(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  MPI_Intercomm_merge(inter, !first, &whole);
  MPI_Comm_rank(whole, &rank);
  MPI_Comm_size(whole, &size);

  if (strcmp(how, "wrong") == 0) {
    wrong(whole, first, name);
  } else if (strcmp(how, "die") == 0) {
    MPI_File file = opened(whole, name, MPI_MODE_CREATE | MPI_MODE_RDWR, "false");
    MPI_Comm_disconnect(&whole);
    MPI_Comm_disconnect(&inter);
    if (!first) _exit(3);
    MPI_File_sync(file);
    CHECK(0, "who has died has synchronized");
  } else {
    write_and_read(whole, name, "true");
    write_and_read(whole, name, "false");
    MPI_File file = opened(whole, name, MPI_MODE_RDONLY, "false");
    alone(name, file);
    MPI_File_close(&file);
    expect(MPI_File_open(whole, "/no/such/folder/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
           MPI_ERR_NO_SUCH_FILE, "/no/such/folder/x");
    write_and_read(whole, name, "false");
  }
  if (strcmp(how, "die") != 0) {
    MPI_Comm_disconnect(&whole);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Finalize();
  if (world_rank == 0) printf("%s: passed\n", argv[1]);
  return 0;
}
