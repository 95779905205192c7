// MPI_Comm_dup and MPI_Comm_dup_with_info. The program's own handle is duplicated natively, so that
// attribute copy functions run, and info and error handlers come along.
#include "mpi/coll/collective.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/comm_info.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/comm/twins.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/outcome.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

/// `copy(handle, &result)` duplicates natively.
template <class Copy>
int duplicate(const GridCommRef& parent, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
              const char* function, Copy&& copy) {
  return shielded(comm, function, [&] {
    const Hints hints = hints_by(info, parent);
    const std::uint64_t context = agree_on_context(parent);
    const auto make = [&](MPI_Comm* made) {
      MPI_Comm result = MPI_COMM_NULL;
      const NativeCreation creation;
      if (const int code = parked(copy, comm, &result); code != MPI_SUCCESS) return code;
      return finish_like(*parent, context, result, made);
    };
    const int code = make_together(
        make, [&](bool mine) { return all_succeeded(parent, context, mine); }, newcomm);
    if (GridComm* const made = find_comm(*newcomm); code == MPI_SUCCESS && made != nullptr) {
      heed(made->shared_from_this(), hints);
    }
    return code;
  });
}

}  // namespace

ISTHMUS_MPI(Comm_dup)(MPI_Comm comm, MPI_Comm* newcomm) {
  const GridCommRef parent = spanning(comm);
  if (!parent) {
    const int code = parked(native.Comm_dup, comm, newcomm);
    if (code == MPI_SUCCESS) copy_reproducible(comm, *newcomm);
    settle_handles();
    return code;
  }
  return duplicate(parent, comm, MPI_INFO_NULL, newcomm, "MPI_Comm_dup", native.Comm_dup);
}

ISTHMUS_MPI(Comm_dup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  const GridCommRef parent = spanning(comm);
  if (!parent && native_call()) {
    return settled(parked(native.Comm_dup_with_info, comm, info, newcomm));
  }
  if (!parent) {
    return shielded(comm, "MPI_Comm_dup_with_info", [&] {
      const auto reproducible = reproducible_by(info);
      const int code = parked(native.Comm_dup_with_info, comm, info, newcomm);
      settle_handles();
      if (code != MPI_SUCCESS) return code;
      copy_reproducible(comm, *newcomm);
      if (reproducible) choose_reproducible(*newcomm, *reproducible);
      return code;
    });
  }
  return duplicate(
      parent, comm, info, newcomm, "MPI_Comm_dup_with_info",
      [info](MPI_Comm from, MPI_Comm* to) { return native.Comm_dup_with_info(from, info, to); });
}

}  // namespace isthmus::face
