// Calls on windows that are a copy, or nothing at all. These are accesses to elements of a
// predefined datatype in memory that is mapped here, in an epoch that has been checked before, and
// flushes with nothing under way. They take no lock of the process: a native library needs some 40
// ns for a put and its flush (2026-11). Accumulates that are like the one before take the target's
// turn.
#pragma once

#include "mpi/native/native.hpp"
#include "rma/record.hpp"

namespace isthmus::face {

/// Elements of a valid datatype that have no gaps are such elements from now on.
void quick_from_now_on(MPI_Datatype type);
/// This thread has just done such an accumulate, or a compare-and-swap of such elements, in full.
void quick_from_now_on(MPI_Op op, MPI_Datatype type, const rma::Combination& how);
void quick_swaps_from_now_on(MPI_Datatype type);

/// All return false for any other call, and do nothing then: the full function also finds any
/// errors.
bool quick_put(const void* from, MPI_Count from_count, MPI_Datatype from_type, int rank,
               MPI_Aint displacement, MPI_Count count, MPI_Datatype type, MPI_Win win);
bool quick_get(void* into, MPI_Count into_count, MPI_Datatype into_type, int rank,
               MPI_Aint displacement, MPI_Count count, MPI_Datatype type, MPI_Win win);
/// `count` and `type` are those of all sides. `before`, which may be null, gets what was there.
bool quick_combine(const void* data, void* before, MPI_Count count, int rank, MPI_Aint displacement,
                   MPI_Datatype type, MPI_Op op, MPI_Win win);
bool quick_swap(const void* wanted, const void* expected, void* before, MPI_Datatype type, int rank,
                MPI_Aint displacement, MPI_Win win);
/// Flushes operations to a rank, also those that only have to be done here.
bool quick_flush(int rank, MPI_Win win);
bool quick_flush_all(MPI_Win win);
bool quick_sync(MPI_Win win);

}  // namespace isthmus::face
