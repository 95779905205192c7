/* A cluster fails while others make communicators of two sides, or use them. sides CASE
 * [MICROSECONDS FILE]: all cases run, CASE first. Without a time, the victim fails before it. If
 * there is a time, the victim takes part in all, and fails after it. All calls end, and all living
 * ranks have a new communicator, or none has. */
#include "survivors.h"

/* Made before: sides that interleave in all clusters, those with the victim on one side, and one
   side of living ranks each. */
static MPI_Comm half, inter, with_victim, across_victim, talking;
static char port[MPI_MAX_PORT_NAME];

/* The call has made `comm` at all that live and take part, or raised an error at all. */
static void expect_loss(int code, MPI_Comm* comm, int members, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length, made;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  CHECK(code != MPI_SUCCESS || takes_part, "%s has succeeded", what);
  CHECK(dead[rank] || code == MPI_SUCCESS || class_of(code) == ISTHMUS_ERR_PROC_FAILED, "%s: %s",
        what, text);
  made = of_all(code == MPI_SUCCESS && *comm != MPI_COMM_NULL);
  CHECK(dead[rank] || made == 0 || made == members, "%s: %d of %d have made it", what, made,
        members);
  if (code == MPI_SUCCESS && *comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}
static MPI_Comm quiet(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

static void set_up(void) {
  const int remote = rank % 2 ? first_alive : first_alive + 1;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  quiet(half);
  MPI_Intercomm_create(half, first_alive / 2, MPI_COMM_WORLD, remote, 5, &inter);
  quiet(inter);
  MPI_Comm_split(MPI_COMM_WORLD, dead[rank], 0, &with_victim);
  quiet(with_victim);
  MPI_Intercomm_create(with_victim, 0, MPI_COMM_WORLD, dead[rank] ? first_alive : victim, 6,
                       &across_victim);
  quiet(across_victim);
  MPI_Comm_dup(MPI_COMM_WORLD, &talking);
  if (rank == first_alive) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, first_alive, MPI_COMM_WORLD);
}

/* Both sides have ranks of the victim, and both leaders live. */
static void create(void) {
  const int remote = rank % 2 ? first_alive : first_alive + 1;
  MPI_Comm made = MPI_COMM_NULL;
  const int code = MPI_Intercomm_create(half, first_alive / 2, MPI_COMM_WORLD, remote, 7, &made);
  expect_loss(code, &made, living, "MPI_Intercomm_create");
}
static int told_apart;
static void count_call(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  told_apart += *code != MPI_SUCCESS;
}
/* The other leader fails. The communicator of the call alone has the error. */
static void create_lead(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Errhandler counts;
  MPI_Comm_create_errhandler(count_call, &counts);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts);
  MPI_Errhandler_free(&counts);
  const int code = MPI_Intercomm_create(with_victim, 0, MPI_COMM_WORLD,
                                        dead[rank] ? first_alive : victim, 8, &made);
  quiet(MPI_COMM_WORLD);
  CHECK(told_apart == 0, "the leaders' communicator has raised the error");
  expect_loss(code, &made, living, "MPI_Intercomm_create with a leader that fails");
}
static void merge(void) {
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_Intercomm_merge(inter, rank % 2, &made);
  expect_loss(code, &made, living, "MPI_Intercomm_merge");
  code = MPI_Intercomm_merge(across_victim, dead[rank], &made);
  expect_loss(code, &made, living, "MPI_Intercomm_merge across");
}
static void connect(void) {
  MPI_Comm made = MPI_COMM_NULL;
  const int code = rank % 2 == first_alive % 2
                       ? MPI_Comm_accept(port, MPI_INFO_NULL, first_alive / 2, half, &made)
                       : MPI_Comm_connect(port, MPI_INFO_NULL, first_alive / 2, half, &made);
  expect_loss(code, &made, living, "MPI_Comm_connect");
}
static void split(void) {
  MPI_Comm made = MPI_COMM_NULL;
  int code = MPI_Comm_split(inter, rank / 2 % 2, 0, &made);
  expect_loss(code, &made, living, "MPI_Comm_split of two sides");
  code = MPI_Comm_dup(inter, &made);
  expect_loss(code, &made, living, "MPI_Comm_dup of two sides");
}
static void plain(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  MPI_Group all;
  int code = MPI_Comm_dup(MPI_COMM_WORLD, &made);
  expect_loss(code, &made, living, "MPI_Comm_dup");
  code = MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &made);
  expect_loss(code, &made, living, "MPI_Comm_split");
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  code = MPI_Comm_create_group(MPI_COMM_WORLD, all, 9, &made);
  expect_loss(code, &made, living, "MPI_Comm_create_group");
  code = MPI_Comm_create(MPI_COMM_WORLD, all, &made);
  expect_loss(code, &made, living, "MPI_Comm_create");
  MPI_Group_free(&all);
  code = MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_loss(code, &made, living, "MPI_Comm_idup");
}
static const char* path;
static void open_file(void) {
  MPI_File file = MPI_FILE_NULL;
  if (path == NULL) return;
  const int code =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  const int made = of_all(code == MPI_SUCCESS);
  CHECK(dead[rank] || made == 0 || made == living, "%d of %d have opened it", made, living);
  if (code == MPI_SUCCESS) MPI_File_close(&file);
}
#if MPI_VERSION >= 4
/* Both are in one cluster. */
static void end_partitioned(void) {
  MPI_Request request;
  int data[8] = {0}, code;
  if (rank == first_alive) {
    MPI_Precv_init(data, 2, 4, MPI_INT, first_alive + 1, 3, talking, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    isthmus_comm_revoke(talking);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(class_of(code) == ISTHMUS_ERR_REVOKED, "a partitioned receive: class %d", class_of(code));
    MPI_Request_free(&request);
  }
}
#endif

static int agreed(int flag, int class) {
  MPI_Request request;
  int code = isthmus_comm_iagree(inter, &flag, &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(class_of(code) == class, "agreeing: class %d", class_of(code));
  return flag;
}
static void go_on_as_two_sides(void) {
  const int mine = rank % 2 ? 0x0F : 0x3C, theirs = rank % 2 ? 0x3C : 0x0F;
  int failed = 0, revoked = 0, flag = mine, here, there, code;
  MPI_Group group;
  MPI_Comm left;
  while (failed == 0) {
    isthmus_comm_get_failed(inter, &group);
    MPI_Group_size(group, &failed);
    if (failed > 0) MPI_Group_free(&group);
  }
  CHECK(failed == size - living, "%d have failed", failed);
  code = isthmus_comm_agree(inter, &flag);
  CHECK(class_of(code) == ISTHMUS_ERR_PROC_FAILED && flag == theirs, "class %d, flag %x",
        class_of(code), flag);
  isthmus_comm_failure_ack(inter);
  CHECK(agreed(mine, MPI_SUCCESS) == theirs, "not the flags of the other side");
  expect_well(isthmus_comm_shrink(inter, &left), "shrinking two sides");
  MPI_Comm_size(left, &here);
  MPI_Comm_remote_size(left, &there);
  CHECK(here + there == living, "%d and %d", here, there);
  expect_well(MPI_Barrier(quiet(left)), "a barrier of two sides");
  MPI_Comm_free(&left);
  if (rank == first_alive) isthmus_comm_revoke(inter);
  while (!revoked) isthmus_comm_is_revoked(inter, &revoked);
  CHECK(class_of(MPI_Barrier(inter)) == ISTHMUS_ERR_REVOKED, "it is not revoked");
  expect_well(isthmus_comm_shrink(inter, &left), "shrinking revoked sides");
  expect_well(MPI_Barrier(quiet(left)), "a barrier of two sides");
  MPI_Comm_free(&left);
}
static void disconnect(void) {
  MPI_Comm copy = half;
  expect_well(MPI_Comm_disconnect(&copy), "MPI_Comm_disconnect");
  CHECK(copy == MPI_COMM_NULL, "it is not freed");
  half = MPI_COMM_NULL;
  expect_well(MPI_Comm_disconnect(&across_victim), "MPI_Comm_disconnect of two sides");
  CHECK(across_victim == MPI_COMM_NULL, "it is not freed");
}

static const struct Case cases[] = {
    {"create", create},  {"create_lead", create_lead},
    {"merge", merge},    {"connect", connect},
    {"split", split},    {"plain", plain},
    {"open", open_file},
};

int main(int argc, char** argv) {
  begin(argc, argv);
  path = argc > 3 ? argv[3] : NULL;
  set_up();
  run_all(cases, sizeof cases / sizeof *cases, argv);
  go_on_as_two_sides();
#if MPI_VERSION >= 4
  end_partitioned();
#endif
  disconnect();
  return end();
}
