/* Errors of windows that span clusters: their classes, and whose handler hears of them. Native
   libraries check less.
   ranks: 3 4 */
#include "rma.h"

static int called;
static void on_error(MPI_Win* win, int* code, ...) {
  (void)win;
  (void)code;
  ++called;
}

#define EXPECT(call, expected)                                                                 \
  do {                                                                                         \
    const int code_ = (call);                                                                  \
    char text_[MPI_MAX_ERROR_STRING] = "";                                                     \
    int length_ = 0;                                                                           \
    MPI_Error_string(code_, text_, &length_);                                                  \
    CHECK(class_of(code_) == (expected), "%s gave class %d: %s", #call, class_of(code_), text_); \
  } while (0)

static void sum(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in;
  (void)inout;
  (void)count;
  (void)type;
}

static void epochs(MPI_Win win) {
  long word = 0;
  MPI_Group all;
  MPI_Win_get_group(win, &all);
  EXPECT(MPI_Put(&word, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_lock(77, 0, 0, win), MPI_ERR_LOCKTYPE);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, world_size, 0, win), MPI_ERR_RANK);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win), MPI_SUCCESS);
  EXPECT(MPI_Win_unlock(MPI_PROC_NULL, win), MPI_SUCCESS);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Put(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_start(all, 0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
  MPI_Win_unlock(0, win);
  MPI_Group_free(&all);
}

static void arguments(MPI_Win win) {
  long words[4] = {0, 0, 0, 0};
  double number = 0;
  MPI_Win_lock_all(0, win);
  EXPECT(MPI_Put(words, 1, MPI_LONG, world_size, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
  EXPECT(MPI_Put(words, 1, MPI_LONG, 1, 2, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Get(words, 3, MPI_LONG, 1, 0, 3, MPI_LONG, win), MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Put(words, 1, MPI_LONG, 1, -1, 1, MPI_LONG, win), MPI_ERR_DISP);
  EXPECT(MPI_Put(words, 2, MPI_LONG, 1, 0, 1, MPI_LONG, win), MPI_ERR_TRUNCATE);
  MPI_Op own;
  MPI_Op_create(sum, 1, &own);
  EXPECT(MPI_Accumulate(words, 1, MPI_LONG, 1, 0, 1, MPI_LONG, own, win), MPI_ERR_OP);
  MPI_Op_free(&own);
  EXPECT(MPI_Accumulate(&number, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
  EXPECT(MPI_Put(words, 0, MPI_LONG, 1, 0, 0, MPI_LONG, win), MPI_SUCCESS);
  EXPECT(MPI_Put(words, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win), MPI_SUCCESS);
  MPI_Win_unlock_all(win);
}

static void dynamic(void) {
  MPI_Win win;
  char bytes[64] = "";
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  EXPECT(MPI_Win_detach(win, bytes), MPI_ERR_RMA_ATTACH);
  EXPECT(MPI_Win_attach(win, bytes, sizeof bytes), MPI_SUCCESS);
  EXPECT(MPI_Win_attach(win, bytes + 8, 8), MPI_ERR_RMA_ATTACH);
  MPI_Aint at, all[64];
  MPI_Get_address(bytes, &at);
  MPI_Allgather(&at, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
  const int target = (world_rank + 1) % world_size;
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  MPI_Put("xy", 2, MPI_CHAR, target, all[target] + 63, 2, MPI_CHAR, win);
  EXPECT(MPI_Win_flush(target, win), MPI_ERR_RMA_RANGE);
  MPI_Put("x", 1, MPI_CHAR, target, all[target] + 63, 1, MPI_CHAR, win);
  EXPECT(MPI_Win_unlock(target, win), MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (spans_clusters(MPI_COMM_WORLD)) {
    long words[2] = {0, 0};
    MPI_Win win;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    EXPECT(MPI_Win_create(words, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    void* base;
    EXPECT(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
           MPI_ERR_RMA_SHARED);
    MPI_Win_create(words, sizeof words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    epochs(win);
    MPI_Barrier(MPI_COMM_WORLD);
    arguments(win);
    MPI_Errhandler own;
    MPI_Win_create_errhandler(on_error, &own);
    MPI_Win_set_errhandler(win, own);
    MPI_Win_unlock_all(win);
    CHECK(called == 1, "the handler was called %d times", called);
    MPI_Errhandler_free(&own);
    MPI_Win_free(&win);
    dynamic();
  }
  MPI_Finalize();
  return 0;
}
