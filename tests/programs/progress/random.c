/* Operations in progress against blocking calls, in random order: as blocking.c, but several at a
   time. The first argument is the number of rounds. needs: blocks. ranks: 4 8 */
#include "progress.h"

static unsigned state = 12345; /* the same on all ranks */
static int next(int below) {
  state = state * 1103515245u + 12345u;
  return (int)((state >> 16) % (unsigned)below);
}

/* Obligations that all ranks share come in the same order everywhere. Wildcards of one rank must
   not take each other's messages, so only one exists at a time. */
static void round_of(int things, int calls) {
  const int first = next(4), second = 4 + next(kNumObligations - 4);
  const Obligation* chosen[2] = {&kObligations[first], &kObligations[second]};
  if (next(2)) chosen[0] = chosen[1], chosen[1] = &kObligations[first];
  int call[3];
  for (int i = 0; i < calls; ++i) call[i] = next(kNumCalls);
  /* Any tag would take the message that a call on MPI_COMM_WORLD sends. */
  for (int i = 0; i < calls; ++i)
    if (first == 1 && call[i] == kNumCalls - 1) call[i] = 0;
  if (!early) {
    for (int t = 0; t < things; ++t) chosen[t]->need();
    for (int i = 0; i < calls; ++i) kCalls[call[i]].call();
    return;
  }
  MPI_Request q[4];
  int n = 0;
  for (int t = 0; t < things; ++t) {
    chosen[t]->begin(q + n);
    n += chosen[t]->requests;
  }
  for (int i = 0; i < calls; ++i) kCalls[call[i]].call();
  MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; ++i)
    if (q[i] != MPI_REQUEST_NULL) MPI_Request_free(&q[i]);
  for (int t = 0; t < things; ++t) chosen[t]->check();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  start_pairs();
  const int rounds = argc > 1 ? atoi(argv[1]) : 40;
  for (int i = 0; i < rounds; ++i) {
    const int things = 1 + next(2);
    const int calls = 1 + next(3);
    round_of(things, calls);
  }
  if (rank == 0) printf("random: passed %d rounds on %d ranks\n", rounds, size);
  MPI_Comm_free(&pair);
  MPI_Finalize();
  return 0;
}
