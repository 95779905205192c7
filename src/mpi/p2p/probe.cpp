// MPI-4.1 section 3.8.1: probing.
#include "mpi/p2p/found.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
ISTHMUS_MPI(Iprobe)(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  if (g == nullptr || source == MPI_PROC_NULL) {
    if (is_revoked(g)) return refuse_revoked(*g, "MPI_Iprobe");
    if (!may_block()) pump();
    return native.Iprobe(source, tag, comm, flag, status);
  }
  return shielded(comm, "MPI_Iprobe", [&]() -> int {
    int code = check_probe(*g, source, tag, "MPI_Iprobe");
    if (code != MPI_SUCCESS) return code;
    const ProbeLoss loss(*g, source, false);
    const Found found = look(*g, source, tag, Take::No, &code);
    if (code == MPI_SUCCESS) loss.unless(found.found);
    *flag = found.found ? 1 : 0;
    if (found.found) give_status(found, status);
    return code;
  });
}

ISTHMUS_MPI(Probe)(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  GridComm* const g = message_comm(comm);
  source = only_source(g, source);
  if (source == MPI_PROC_NULL && is_revoked(g)) return refuse_revoked(*g, "MPI_Probe");
  if (source == MPI_PROC_NULL) return native.Probe(source, tag, comm, status);
  if (g == nullptr || g->native_rank_of(source) >= 0) {
    if (may_block()) {
      const int local = g == nullptr ? source : g->native_rank_of(source);
      if (g == nullptr || status == MPI_STATUS_IGNORE) {
        return native.Probe(local, tag, comm, status);
      }
      const int error = status->MPI_ERROR;
      const int code = native.Probe(local, tag, comm, status);
      native.Status_set_cancelled(status, 0);  // MPICH leaves the flag as it was,
      status->MPI_ERROR = error;               // but sets this
      status->MPI_SOURCE = source;
      return code;
    }
    if (g == nullptr) {
      int code = MPI_SUCCESS;
      wait_until([&] {
        int flag = 0;
        code = native.Iprobe(source, tag, comm, &flag, status);
        return flag != 0 || code != MPI_SUCCESS;
      });
      return code;
    }
  }
  return shielded(comm, "MPI_Probe", [&]() -> int {
    int code = check_probe(*g, source, tag, "MPI_Probe");
    if (code != MPI_SUCCESS) return code;
    const auto described = waiting_for_message(*g, source, tag);
    wait_until(
        [&] {
          const ProbeLoss loss(*g, source, true);
          const Found found = look(*g, source, tag, Take::No, &code);
          if (code == MPI_SUCCESS) loss.unless(found.found);
          if (found.found) give_status(found, status);
          return found.found || code != MPI_SUCCESS;
        },
        Describe(described));
    return code;
  });
}

}  // namespace isthmus::face
