/* MPI_THREAD_MULTIPLE: several threads make and free communicators at once, each on its own parent.
   They also call MPI_Comm_create_group on one parent, each with its own tag. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kRounds = 20 };
static MPI_Comm parents[kThreads];
static int *everyone, *reversed;

static void* work(void* argument) {
  const int mine = (int)(long)argument;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm made;
    MPI_Comm_dup(parents[mine], &made);
    prove(made, everyone, world_size, "a thread's duplicate");
    MPI_Comm_free(&made);
    MPI_Comm_split(parents[mine], 0, -world_rank, &made);
    prove(made, reversed, world_size, "a thread's split");
    MPI_Comm_free(&made);
  }
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, world_size, reversed, &group);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm made;
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 10 + mine, &made);
    prove(made, reversed, world_size, "a thread's create_group");
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  everyone = malloc(sizeof(int) * world_size);
  reversed = malloc(sizeof(int) * world_size);
  for (int i = 0; i < world_size; ++i) {
    everyone[i] = i;
    reversed[i] = world_size - 1 - i;
  }
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_t threads[kThreads];
    for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&parents[i]);
  free(everyone), free(reversed);
  return finish("threads");
}
