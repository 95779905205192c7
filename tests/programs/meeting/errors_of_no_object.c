/* Errors of calls that have no communicator, window or file. They return if MPI_COMM_WORLD or
   MPI_COMM_SELF has MPI_ERRORS_RETURN, and a handler of either is called once. ranks: 2 3 */
#include <string.h>

#include "../checking.h"

static int called[2];
static void of_world(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++called[0];
}
static void of_self(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++called[1];
}

static int look_up(void) {
  char port[MPI_MAX_PORT_NAME];
  return MPI_Lookup_name("nobody has published this", MPI_INFO_NULL, port);
}
static int take_back(void) {
  return MPI_Unpublish_name("nobody has published this", MPI_INFO_NULL, "port");
}
static int close_port(void) { return MPI_Close_port(NULL); }
static int join(void) {
  MPI_Comm inter;
  return MPI_Comm_join(-1, &inter);
}
static int choose(void) {
  MPI_Group all, made;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const int rank = 1000;
  const int code = MPI_Group_incl(all, 1, &rank, &made);
  MPI_Group_free(&all);
  return code;
}

static const struct {
  const char* name;
  int (*call)(void);
} calls[] = {{"MPI_Lookup_name", look_up},
             {"MPI_Unpublish_name", take_back},
             {"MPI_Close_port", close_port},
             {"MPI_Comm_join", join},
             {"MPI_Group_incl", choose}};
enum { kCalls = sizeof calls / sizeof *calls };

static void each_returns(const char* who) {
  for (int i = 0; i < kCalls; ++i)
    CHECK(calls[i].call() != MPI_SUCCESS, "%s succeeded (%s)", calls[i].name, who);
}

static void each_calls(int world, int self, const char* who) {
  for (int i = 0; i < kCalls; ++i) {
    called[0] = called[1] = 0;
    calls[i].call();
    CHECK(called[0] + called[1] == 1, "%s called %d and %d (%s)", calls[i].name, called[0],
          called[1], who);
    CHECK(called[0] <= world && called[1] <= self, "%s called another's (%s)", calls[i].name, who);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (spans_clusters(MPI_COMM_WORLD)) {
    MPI_Errhandler world, self;
    MPI_Comm_create_errhandler(of_world, &world);
    MPI_Comm_create_errhandler(of_self, &self);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    each_returns("of MPI_COMM_WORLD");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
    each_calls(1, 0, "of MPI_COMM_WORLD");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, self);
    each_calls(1, 1, "of both");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    each_calls(0, 1, "of MPI_COMM_SELF");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    each_returns("of MPI_COMM_SELF");
    MPI_Errhandler_free(&world);
    MPI_Errhandler_free(&self);
  }
  MPI_Finalize();
  return 0;
}
