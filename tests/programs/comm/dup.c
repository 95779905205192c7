/* MPI_Comm_dup: chains with attribute functions, separate message spaces, names, info and error
   handlers. */
#include <string.h>

#include "check.h"

static int copies, deletions, handled;

/* Attribute functions see the communicator as the program does. */
static int count_copy(MPI_Comm old, int keyval, void* extra, void* in, void* out, int* flag) {
  int size = -1, rank = -1;
  (void)keyval;
  MPI_Comm_size(old, &size);
  MPI_Comm_rank(old, &rank);
  CHECK(size == world_size && rank == world_rank,
        "a copy function saw rank %d of %d, expected %d of %d", rank, size, world_rank, world_size);
  CHECK(extra == &copies, "the extra state of a copy function is not what was given");
  ++copies;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  int size = -1;
  (void)keyval, (void)value, (void)extra;
  MPI_Comm_size(comm, &size);
  CHECK(size == world_size, "a delete function saw %d ranks, expected %d", size, world_size);
  ++deletions;
  return MPI_SUCCESS;
}

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static void check_attribute(MPI_Comm comm, int keyval, long expected) {
  void* value = NULL;
  int found = 0;
  MPI_Comm_get_attr(comm, keyval, &value, &found);
  CHECK(found && (long)value == expected, "the attribute is %ld (found: %d), expected %ld",
        (long)value, found, expected);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  int* members = malloc(sizeof(int) * world_size);
  for (int i = 0; i < world_size; ++i) members[i] = i;

  int counted, uncopied;
  MPI_Comm_create_keyval(count_copy, count_delete, &counted, &copies);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &uncopied, NULL);
  MPI_Comm chain[6];
  MPI_Comm_dup(MPI_COMM_WORLD, &chain[0]);
  MPI_Comm_set_attr(chain[0], counted, (void*)100);
  MPI_Comm_set_attr(chain[0], uncopied, (void*)5);
  MPI_Comm_set_name(chain[0], "the first");
  for (int i = 1; i < 6; ++i) MPI_Comm_dup(chain[i - 1], &chain[i]);
  CHECK(copies == 5, "the copy function ran %d times, expected 5", copies);
  for (int i = 0; i < 6; ++i) {
    prove(chain[i], members, world_size, "a duplicate");
    check_attribute(chain[i], counted, 100 + i);
    int found = -1;
    void* value;
    MPI_Comm_get_attr(chain[i], uncopied, &value, &found);
    CHECK(found == (i == 0), "an attribute with the null copy function was copied");
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(chain[i], name, &length);
    CHECK((strcmp(name, "the first") == 0) == (i == 0), "duplicate %d is named '%s'", i, name);
  }

  /* The same envelope in two communicators: each receive gets its own. */
  const int right = (world_rank + 1) % world_size,
            left = (world_rank + world_size - 1) % world_size;
  int sent[6], got = -1;
  MPI_Request sends[6];
  for (int i = 0; i < 6; ++i) {
    sent[i] = 10 * world_rank + i;
    MPI_Isend(&sent[i], 1, MPI_INT, right, 3, chain[i], &sends[i]);
  }
  for (int i = 5; i >= 0; --i) {
    MPI_Recv(&got, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, 3, chain[i], MPI_STATUS_IGNORE);
    CHECK(got == 10 * left + i, "communicator %d delivered %d, expected %d", i, got, 10 * left + i);
  }
  MPI_Waitall(6, sends, MPI_STATUSES_IGNORE);

  /* Error handlers come along. */
  MPI_Errhandler handler;
  MPI_Comm child;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(chain[2], handler);
  MPI_Comm_dup(chain[2], &child);
  MPI_Comm_call_errhandler(child, MPI_ERR_OTHER);
  CHECK(handled == 1, "the duplicate's error handler ran %d times, expected 1", handled);
  MPI_Send(&got, 1, MPI_INT, world_size, 0, child);
  CHECK(handled == 2, "a send to a rank that does not exist did not reach the error handler");
  MPI_Comm_free(&child);
  MPI_Errhandler_free(&handler);

  MPI_Info info, held;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
  MPI_Comm_dup_with_info(chain[3], info, &child);
  prove(child, members, world_size, "a duplicate with info");
  check_attribute(child, counted, 104);
  MPI_Comm_get_info(child, &held);
  MPI_Info_free(&held);
  MPI_Info_free(&info);
  MPI_Comm_free(&child);

  deletions = 0;
  const int order[] = {3, 0, 5, 1, 4, 2};
  for (int i = 0; i < 6; ++i) {
    MPI_Comm_free(&chain[order[i]]);
    CHECK(chain[order[i]] == MPI_COMM_NULL, "MPI_Comm_free left the handle");
    CHECK(deletions == i + 1, "the delete function ran %d times, expected %d", deletions, i + 1);
    for (int j = i + 1; j < 6; ++j)
      prove(chain[order[j]], members, world_size, "a duplicate after another was freed");
  }
  MPI_Comm_free_keyval(&counted);
  MPI_Comm_free_keyval(&uncopied);
  free(members);
  return finish("dup");
}
