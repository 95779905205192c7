/* A profiling tool: wraps MPI_Init and MPI_Send over PMPI_Init and PMPI_Send. */
#include <mpi.h>
#include <stdio.h>

int MPI_Init(int* argc, char*** argv) {
  printf("tool begins\n");
  return PMPI_Init(argc, argv);
}

int MPI_Send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  printf("tool before\n");
  int code = PMPI_Send(buf, count, type, dest, tag, comm);
  printf("tool after\n");
  return code;
}
