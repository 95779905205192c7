// The error classes of runs that go on without clusters that have failed (docs/surviving.md). Open
// MPI 5 and MPICH have them (MPIX_ERR_PROC_FAILED and others); the other libraries get new classes.
// The forum's text on fault tolerance (ULFM) has their meaning.
#pragma once

namespace isthmus::face {

/// Adds the classes that the library lacks. MPI_Init calls it in a run whose clusters may fail. In
/// other runs, the first of the functions below does, and calls MPI then.
void add_survival_errors();
int proc_failed();          ///< a process that the operation needs has failed
int proc_failed_pending();  ///< one that it may need has; the request stays active
int revoked();              ///< the communicator is revoked
/// It is one of these, in a run whose clusters may fail.
bool is_survival_error(int error_class);

}  // namespace isthmus::face
