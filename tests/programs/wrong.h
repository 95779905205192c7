/* One rank alone calls a collective with a wrong argument, and errors return. It gets its error;
   others that depend on its data get MPI_ERR_OTHER, the rest their data. The communicator serves as
   before. */
#ifndef WRONG_H
#define WRONG_H

#include "checking.h"

enum { kRoom = 1 << 16 };
/* What is wrong. */
enum { COUNT, TYPE, OPERATION, ROOT, FLAWS };
static const char* const flaws[] = {"count", "datatype", "operation", "root"};

static int rank, size;
static int wrong_rank, flaw, n, nonblocking;
static const char* doing;

static inline int is_wrong(int kind) { return rank == wrong_rank && flaw == kind; }
static inline int count(void) { return is_wrong(COUNT) ? -1 : n; }
static inline MPI_Datatype type(void) { return is_wrong(TYPE) ? MPI_DATATYPE_NULL : MPI_INT; }
static inline MPI_Op operation(void) { return is_wrong(OPERATION) ? MPI_OP_NULL : MPI_SUM; }
static inline int root_or(int root) { return is_wrong(ROOT) ? -77 : root; }

static MPI_Request request = MPI_REQUEST_NULL;
static int waited_for(int code) {
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}
/* CALL(Bcast, Ibcast, arguments...): in the current mode. */
#define CALL(blocking, immediate, ...) \
  (doing = "MPI_" #blocking,           \
   nonblocking ? waited_for(MPI_##immediate(__VA_ARGS__, &request)) : MPI_##blocking(__VA_ARGS__))

/* `fails`: this rank's data would have come from the wrong one. */
static void check(int code, int fails) {
  const int own[] = {MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_OP, MPI_ERR_ROOT};
  const int wanted = rank == wrong_rank ? own[flaw] : fails ? MPI_ERR_OTHER : MPI_SUCCESS;
  CHECK(class_of(code) == wanted, "%s%s of %d, rank %d has a wrong %s: class %d on rank %d, not %d",
        doing, nonblocking ? ", not blocking" : "", n, wrong_rank, flaws[flaw], class_of(code),
        rank, wanted);
}

#endif
