// The error classes of runs that go on without clusters that have failed (docs/surviving.md): those
// of the native library where it has them (MPIX_ERR_PROC_FAILED of Open MPI 5 and MPICH), else
// classes added to it. The forum's text on fault tolerance (ULFM) has their meaning.
#pragma once

namespace isthmus::face {

/// Adds what the library lacks. By MPI_Init, in a run whose clusters may fail; else the first of
/// the others does so. They call MPI then.
void add_survival_errors();
int proc_failed();          ///< a process that the operation needs has failed
int proc_failed_pending();  ///< one that it may need has; the request stays active
int revoked();              ///< the communicator is revoked

}  // namespace isthmus::face
