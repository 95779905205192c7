/* A master and its workers, of which a cluster fails: the master does their tasks itself.
   workers TASKS CLUSTER: that cluster ends with its second tasks. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../../../include/isthmus.h"
#include "../../programs/checking.h"

enum { TASK = 1, RESULT, STOP };

static MPI_Comm comm;

static void work(const char* fails) {
  const int ends = !strcmp(isthmus_cluster_name(isthmus_cluster()), fails);
  int done = 0;
  for (;;) {
    MPI_Status status;
    int task, result;
    CHECK(MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &status) == MPI_SUCCESS, "no task");
    if (status.MPI_TAG == STOP) return;
    if (ends && ++done == 2) raise(SIGKILL);
    result = task * task;
    usleep(1000);
    CHECK(MPI_Send(&result, 1, MPI_INT, 0, RESULT, comm) == MPI_SUCCESS, "no result");
  }
}

static int next, done, tasks, *given, *alive;
static long sum;

static void do_here(int task) {
  sum += (long)task * task;
  ++done;
}

static void give(int worker) {
  given[worker] = -1;
  if (next == tasks) return;
  given[worker] = next++;
  /* A failure is noticed by the next receive at the latest. */
  MPI_Send(&given[worker], 1, MPI_INT, worker, TASK, comm);
}

static void bury(void) {
  MPI_Group failed, all;
  int number, i;
  CHECK(isthmus_comm_failure_ack(comm) == MPI_SUCCESS, "failures cannot be acknowledged");
  CHECK(isthmus_comm_failure_get_acked(comm, &failed) == MPI_SUCCESS, "no group");
  MPI_Comm_group(comm, &all);
  MPI_Group_size(failed, &number);
  CHECK(number > 0, "nobody has failed");
  for (i = 0; i < number; ++i) {
    int worker;
    MPI_Group_translate_ranks(failed, 1, &i, all, &worker);
    if (alive[worker] && given[worker] >= 0) do_here(given[worker]);
    alive[worker] = 0;
  }
  MPI_Group_free(&failed);
  MPI_Group_free(&all);
}

static void lead(int size) {
  int worker, left = 0;
  given = malloc(sizeof(int) * (size_t)size);
  alive = calloc((size_t)size, sizeof(int));
  for (worker = 1; worker < size; ++worker) {
    alive[worker] = 1;
    give(worker);
  }
  while (done < tasks) {
    MPI_Status status;
    int result, class;
    const int code = MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, comm, &status);
    if (code == MPI_SUCCESS) {
      sum += result;
      ++done;
      if (alive[status.MPI_SOURCE]) give(status.MPI_SOURCE);
      continue;
    }
    MPI_Error_class(code, &class);
    CHECK(class == ISTHMUS_ERR_PROC_FAILED || class == ISTHMUS_ERR_PROC_FAILED_PENDING, "class %d",
          class);
    bury();
  }
  for (worker = 1; worker < size; ++worker) {
    const int nothing = 0;
    if (alive[worker]) MPI_Send(&nothing, 1, MPI_INT, worker, STOP, comm);
    left += alive[worker];
  }
  long wanted = 0;
  for (int task = 0; task < tasks; ++task) wanted += (long)task * task;
  CHECK(sum == wanted, "the sum is %ld and not %ld", sum, wanted);
  printf("%d workers of %d, sum %ld\n", left, size - 1, sum);
}

int main(int argc, char** argv) {
  int rank, size, flag = 1, code, class = MPI_SUCCESS;
  MPI_Comm smaller;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  tasks = atoi(argv[1]);
  if (rank == 0) {
    lead(size);
  } else {
    work(argv[2]);
  }
  code = isthmus_comm_agree(comm, &flag);
  CHECK(flag == 1, "flag %d", flag);
  MPI_Error_class(code, &class);
  CHECK(class == ISTHMUS_ERR_PROC_FAILED, "the workers have not acknowledged: class %d", class);
  CHECK(isthmus_comm_shrink(comm, &smaller) == MPI_SUCCESS, "it cannot be shrunk");
  MPI_Comm_free(&smaller);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
