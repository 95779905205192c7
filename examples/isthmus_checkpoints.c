/* An iterative solver that goes on without clusters that fail. It finds the temperatures in a rod
 * between ice and boiling water, by Jacobi's method. Each rank has a part of the rod. Every 100
 * steps, each rank keeps a copy of its part, and sends one to a partner in another cluster. When a
 * cluster fails, the others divide the rod anew, and go on from the last copies. The result is the
 * same as without a failure.
 *
 *     isthmus run --survive -g grid.toml -n 8 ./isthmus_checkpoints
 *
 * For a trial, the cluster that you name ends in the step that you name:
 *
 *     isthmus run --survive -g grid.toml -n 8 ./isthmus_checkpoints west 250
 */
#include <isthmus.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 96, STEPS = 1000, EVERY = 100, MOST_RANKS = 96 };

/* The temperatures of the points first..last-1 after some steps. Points 0 and POINTS + 1 are the
 * ice and the water. */
struct part {
  int step, first, last;
  double t[POINTS + 2]; /* simple: a large program would keep its part only */
};

static MPI_Comm comm = MPI_COMM_WORLD; /* then the ranks that are left */
static int rank, size;
static struct part now, received;   /* received: from the partner */
static struct part copy, held_copy; /* the last copies that all ranks have made */

/* ---- the solver ---- */

/* Gives each rank that is left a part of the rod. */
static void divide(void) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  now.step = copy.step;
  now.first = 1 + POINTS * rank / size;
  now.last = 1 + POINTS * (rank + 1) / size;
  now.t[0] = 0;
  now.t[POINTS + 1] = 100;
}

static int make_step(void) {
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  double *const t = now.t, next[POINTS + 2];
  int code = MPI_Sendrecv(&t[now.first], 1, MPI_DOUBLE, left, 0, &t[now.last], 1, MPI_DOUBLE, right,
                          0, comm, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  code = MPI_Sendrecv(&t[now.last - 1], 1, MPI_DOUBLE, right, 0, &t[now.first - 1], 1, MPI_DOUBLE,
                      left, 0, comm, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  for (int i = now.first; i < now.last; ++i) next[i] = (t[i - 1] + t[i + 1]) / 2;
  for (int i = now.first; i < now.last; ++i) t[i] = next[i];
  ++now.step;
  return MPI_SUCCESS;
}

/* ---- copies ---- */

/* The distance in ranks to the partner: the least one that leads every rank to another cluster.
 * If one cluster has more than half of the ranks, there is none. */
static int distance_to_partner(const int* cluster) {
  for (int distance = 1; distance < size; ++distance) {
    int good = 1;
    for (int i = 0; i < size; ++i) good &= cluster[i] != cluster[(i + distance) % size];
    if (good) return distance;
  }
  return size / 2;
}

static int send_copies(void) {
  int cluster[MOST_RANKS];
  const int here = isthmus_cluster();
  const int code = MPI_Allgather(&here, 1, MPI_INT, cluster, 1, MPI_INT, comm);
  if (code != MPI_SUCCESS) return code;
  const int distance = distance_to_partner(cluster);
  return MPI_Sendrecv(&now, sizeof now, MPI_BYTE, (rank + distance) % size, 0, &received,
                      sizeof received, MPI_BYTE, (rank + size - distance) % size, 0, comm,
                      MPI_STATUS_IGNORE);
}

static void put(const struct part* from, double* rod) {
  for (int i = from->first; i < from->last; ++i) rod[i] = from->t[i];
}

/* Puts the rod together from all copies: simple, since all ranks then have all of it. */
static int restore(void) {
  double rod[POINTS + 2];
  for (int i = 0; i < POINTS + 2; ++i) rod[i] = -HUGE_VAL;
  put(&copy, rod);
  put(&held_copy, rod);
  const int code = MPI_Allreduce(MPI_IN_PLACE, rod, POINTS + 2, MPI_DOUBLE, MPI_MAX, comm);
  if (code != MPI_SUCCESS) return code;
  for (int i = 1; i <= POINTS; ++i) {
    if (copy.step == 0) rod[i] = 0; /* nothing has been done yet */
    if (rod[i] == -HUGE_VAL) {
      fprintf(stderr, "both copies of a part are lost\n");
      MPI_Abort(comm, 1);
    }
  }
  memcpy(now.t, rod, sizeof rod);
  divide();
  return MPI_SUCCESS;
}

/* ---- both ---- */

/* Makes the next steps, and copies. Returns an error if that needs a rank that has failed. */
static int advance(int is_new, int fails_in) {
  int code = is_new ? restore() : MPI_SUCCESS;
  while (code == MPI_SUCCESS && now.step < copy.step + EVERY) {
    code = make_step();
    if (now.step == fails_in) raise(SIGKILL);
  }
  return code == MPI_SUCCESS ? send_copies() : code;
}

static void leave_the_failed(void) {
  MPI_Comm smaller;
  if (isthmus_comm_shrink(comm, &smaller) != MPI_SUCCESS) MPI_Abort(comm, 1);
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  comm = smaller;
}

int main(int argc, char** argv) {
  int is_new = 1, fails_in = -1, middle = POINTS / 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN); /* errors no longer end the run */
  MPI_Comm_size(comm, &size);
  if (size > MOST_RANKS) MPI_Abort(comm, 1);
  if (argc > 2 && strcmp(argv[1], isthmus_cluster_name(isthmus_cluster())) == 0) {
    fails_in = atoi(argv[2]);
  }
  while (copy.step < STEPS) {
    int good = advance(is_new, fails_in) == MPI_SUCCESS;
    if (!good) isthmus_comm_revoke(comm); /* so that others do not wait for this rank */
    isthmus_comm_agree(comm, &good);      /* good everywhere, or nowhere */
    if (good) {
      copy = now;
      held_copy = received;
    } else {
      leave_the_failed();
    }
    is_new = !good;
  }
  if (now.first <= middle && middle < now.last) {
    printf("%.12f degrees in the middle; %d ranks are left\n", now.t[middle], size);
  }
  MPI_Finalize();
  return 0;
}
