/* Shared by the window programs. */
#ifndef RMA_H
#define RMA_H

#include <string.h>

#include "../checking.h"

static int world_rank, world_size;

static inline void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

/* The same on every rank. */
static inline unsigned draw(unsigned* state, unsigned below) {
  *state = *state * 1664525u + 1013904223u;
  return (*state >> 8) % below;
}

#endif
