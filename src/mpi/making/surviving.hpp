// The functions of the forum's text on fault tolerance (ULFM), for communicators of every kind.
#pragma once

#include "mpi/making/comm_shrink.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face::survival {

// Each works as the MPI function MPIX_Comm_... of that name, and raises its errors. `function`:
// the name by which the program has called it. A communicator inside one cluster is for the native
// library, if that is Open MPI and has the function. Otherwise its members are taken to be alive,
// as the launcher ends a cluster as a whole.

int revoke(MPI_Comm comm, const char* function);
int is_revoked(MPI_Comm comm, int* flag, const char* function);
int shrink(MPI_Comm comm, MPI_Comm* newcomm, const char* function);
/// As shrink_later.
int ishrink(MPI_Comm comm, const GiveComm& give, MPI_Request* request, const char* function);
int agree(MPI_Comm comm, int* flag, const char* function);
int iagree(MPI_Comm comm, int* flag, MPI_Request* request, const char* function);
int failure_ack(MPI_Comm comm, const char* function);
int failure_get_acked(MPI_Comm comm, MPI_Group* failed, const char* function);
int get_failed(MPI_Comm comm, MPI_Group* failed, const char* function);
int ack_failed(MPI_Comm comm, int wanted, int* acknowledged, const char* function);

}  // namespace isthmus::face::survival
