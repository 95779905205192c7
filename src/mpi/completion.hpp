// What every wait and test does after the native call: statuses and errors of the requests that
// Isthmus has a hand in.
#pragma once

#include "mpi/native.hpp"
#include "mpi/watch.hpp"

namespace isthmus::face {

/// One request, at `index` (or none: MPI_UNDEFINED), has completed natively with `code`. Returns
/// what the calling MPI function should.
int finish_one(Watch& watch, int index, int code, MPI_Status* status, const char* function);

/// All `count` requests have completed; with an error in `code`, those whose handle is gone.
int finish_all(Watch& watch, int code, int count, const MPI_Request* requests, MPI_Status* statuses,
               const char* function);

/// `done` (or MPI_UNDEFINED) requests have completed, those at `indices`, in that order.
int finish_some(Watch& watch, int code, int done, const int* indices, MPI_Status* statuses,
                const char* function);

}  // namespace isthmus::face
