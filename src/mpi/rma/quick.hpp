// Calls on windows that are a copy, or nothing at all: elements of a predefined datatype in memory
// that is mapped here, in an epoch that has been asked about before, and flushes where all is done.
// They take no lock of the process's: a native library needs some 40 ns for a put and its flush
// (2026-11). Accumulates, which are like the one before, take the target's turn.
#pragma once

#include "mpi/native/native.hpp"
#include "rma/record.hpp"

namespace isthmus::face {

/// Elements of a valid datatype that have no gaps are such elements from now on.
void quick_from_now_on(MPI_Datatype type);
/// This thread has just done such an accumulate, or a compare-and-swap of such elements, in full.
void quick_from_now_on(MPI_Op op, MPI_Datatype type, const rma::Combination& how);
void quick_swaps_from_now_on(MPI_Datatype type);

/// All return false where the call is none of these, and do nothing then: whoever does it in full
/// also finds out what is wrong with it.
bool quick_put(const void* from, MPI_Count from_count, MPI_Datatype from_type, int rank,
               MPI_Aint displacement, MPI_Count count, MPI_Datatype type, MPI_Win win);
bool quick_get(void* into, MPI_Count into_count, MPI_Datatype into_type, int rank,
               MPI_Aint displacement, MPI_Count count, MPI_Datatype type, MPI_Win win);
/// `count` and `type` are those of all sides. `before`, which may be null, gets what was there.
bool quick_combine(const void* data, void* before, MPI_Count count, int rank, MPI_Aint displacement,
                   MPI_Datatype type, MPI_Op op, MPI_Win win);
bool quick_swap(const void* wanted, const void* expected, void* before, MPI_Datatype type, int rank,
                MPI_Aint displacement, MPI_Win win);
/// Of operations to a rank, also of those that only have to be done here.
bool quick_flush(int rank, MPI_Win win);
bool quick_flush_all(MPI_Win win);
bool quick_sync(MPI_Win win);

}  // namespace isthmus::face
