/* A master and its workers over several clusters. Clusters may fail, and no task is lost: the
 * master gives the tasks of failed workers to others. The tasks are parts of the sum
 * 4/1 - 4/3 + 4/5 - 4/7 + ..., which is pi.
 *
 *     isthmus run --survive -g grid.toml -n 8 ./isthmus_workers
 *
 * For a trial, the workers of clusters that you name end with their third task:
 *
 *     isthmus run --survive -g grid.toml -n 8 ./isthmus_workers west north
 */
#include <isthmus.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 400, TERMS = 100000, MASTER = 0, NONE = -1 };

static MPI_Comm comm = MPI_COMM_WORLD;

/* ---- a worker ---- */

static double do_task(int task) {
  double sum = 0;
  for (int term = task * TERMS; term < (task + 1) * TERMS; ++term) {
    sum += (term % 2 ? -4.0 : 4.0) / (2.0 * term + 1);
  }
  return sum;
}

/* Does tasks until there are none. */
static void work(int fails) {
  for (int third = 1;; ++third) {
    int task;
    if (MPI_Recv(&task, 1, MPI_INT, MASTER, 0, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    if (task == NONE) return;
    if (fails && third == 3) raise(SIGKILL);
    const double sum = do_task(task);
    MPI_Send(&sum, 1, MPI_DOUBLE, MASTER, 0, comm);
  }
}

/* ---- the master ---- */

static int waiting[TASKS], tasks_waiting; /* a stack of tasks that no worker has */
static int *task_of, *alive;              /* by worker */

static void give_task(int worker) {
  task_of[worker] = tasks_waiting > 0 ? waiting[--tasks_waiting] : NONE;
  if (task_of[worker] == NONE) return;
  /* If the worker has failed, the next receive returns an error. */
  MPI_Send(&task_of[worker], 1, MPI_INT, worker, 0, comm);
}

/* Takes back the tasks of workers that have failed, and gives them to idle workers. */
static void take_back(int size) {
  MPI_Group failed, all;
  int number;
  isthmus_comm_failure_ack(comm); /* from now on, MPI_ANY_SOURCE means the others */
  isthmus_comm_failure_get_acked(comm, &failed);
  MPI_Comm_group(comm, &all);
  MPI_Group_size(failed, &number);
  for (int i = 0; i < number; ++i) {
    int worker;
    MPI_Group_translate_ranks(failed, 1, &i, all, &worker);
    if (alive[worker] && task_of[worker] != NONE) waiting[tasks_waiting++] = task_of[worker];
    alive[worker] = 0;
  }
  MPI_Group_free(&failed);
  MPI_Group_free(&all);
  for (int worker = 1; worker < size; ++worker) {
    if (alive[worker] && task_of[worker] == NONE) give_task(worker);
  }
}

static void lead(int size) {
  double pi = 0, sum;
  int done = 0, left = 0;
  task_of = malloc(sizeof(int) * (size_t)size);
  alive = malloc(sizeof(int) * (size_t)size);
  for (int task = 0; task < TASKS; ++task) waiting[tasks_waiting++] = task;
  for (int worker = 1; worker < size; ++worker) {
    alive[worker] = 1;
    give_task(worker);
  }
  while (done < TASKS) {
    MPI_Status status;
    if (MPI_Recv(&sum, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, comm, &status) != MPI_SUCCESS) {
      take_back(size);
    } else if (alive[status.MPI_SOURCE]) { /* otherwise another worker has that task */
      pi += sum;
      ++done;
      give_task(status.MPI_SOURCE);
    }
  }
  for (int worker = 1; worker < size; ++worker) {
    const int none = NONE;
    if (alive[worker]) MPI_Send(&none, 1, MPI_INT, worker, 0, comm);
    left += alive[worker];
  }
  printf("pi is %.6f; %d of %d workers are left\n", pi, left, size - 1);
}

/* ---- both ---- */

static int is_named(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], isthmus_cluster_name(isthmus_cluster())) == 0) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); /* errors no longer end the run */
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Barrier(comm); /* a cluster that fails while others are in MPI_Init ends the run */
  if (rank == MASTER) {
    lead(size);
  } else {
    work(is_named(argc, argv));
  }
  MPI_Finalize();
  return 0;
}
