// MPI_Comm_dup and its variants. The program's own handle is duplicated natively, so that
// attribute copy functions run, and info and error handlers come along.
#include <memory>

#include "mpi/agreement.hpp"
#include "mpi/collective.hpp"
#include "mpi/comm.hpp"
#include "mpi/comm_info.hpp"
#include "mpi/duplication.hpp"
#include "mpi/entry.hpp"
#include "mpi/making.hpp"
#include "mpi/shield.hpp"

namespace isthmus::face {
namespace {

/// `copy(handle, &result)` duplicates natively.
template <class Copy>
int duplicate(const GridCommRef& parent, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
              const char* function, Copy&& copy) {
  return shielded(comm, function, [&] {
    const coll::Forced forced = forced_by(info, parent->forced);
    const std::uint64_t context = agree_on_context(parent);
    MPI_Comm result = MPI_COMM_NULL;
    if (const int code = parked(copy, comm, &result); code != MPI_SUCCESS) return code;
    const int code = finish_comm(parent->group, context, result, parent->cart, newcomm);
    if (GridComm* const made = find_comm(*newcomm); code == MPI_SUCCESS && made != nullptr) {
      made->forced = forced;
    }
    return code;
  });
}

/// Looks the function up by what the table has: not every mpi.h declares it.
template <class Table>
int native_idup_with_info(const Table& table, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                          MPI_Request* request) {
  if constexpr (requires { table.Comm_idup_with_info; }) {
    if (table.Comm_idup_with_info) {
      return table.Comm_idup_with_info(comm, info, newcomm, request);
    }
  }
  return unsupported(comm, "MPI_Comm_idup_with_info", "the native library does not have it");
}

template <class Copy>
int duplicate_later(const GridCommRef& parent, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                    MPI_Request* request, const char* function, Copy&& copy) {
  return shielded(comm, function, [&] {
    const coll::Forced forced = forced_by(info, parent->forced);
    MPI_Comm result = MPI_COMM_NULL;
    MPI_Request copied = MPI_REQUEST_NULL;
    Duplication::await_turn(*parent);
    if (const int code = copy(&result, &copied); code != MPI_SUCCESS) return code;
    settle_handles();
    *newcomm = result;
    return make_request(std::make_unique<Duplication>(parent, function, result, copied, forced),
                        request);
  });
}

}  // namespace

ISTHMUS_MPI(Comm_dup)(MPI_Comm comm, MPI_Comm* newcomm) {
  const GridCommRef parent = spanning(comm);
  if (!parent) {
    const int code = parked(native.Comm_dup, comm, newcomm);
    settle_handles();
    return code;
  }
  return duplicate(parent, comm, MPI_INFO_NULL, newcomm, "MPI_Comm_dup", native.Comm_dup);
}

ISTHMUS_MPI(Comm_dup_with_info)(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  const GridCommRef parent = spanning(comm);
  if (!parent) {
    const int code = parked(native.Comm_dup_with_info, comm, info, newcomm);
    settle_handles();
    return code;
  }
  return duplicate(
      parent, comm, info, newcomm, "MPI_Comm_dup_with_info",
      [info](MPI_Comm from, MPI_Comm* to) { return native.Comm_dup_with_info(from, info, to); });
}

ISTHMUS_MPI(Comm_idup)(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  const GridCommRef parent = spanning(comm);
  if (!parent) {
    const int code = native.Comm_idup(comm, newcomm, request);
    settle_handles();
    return code;
  }
  return duplicate_later(parent, comm, MPI_INFO_NULL, newcomm, request, "MPI_Comm_idup",
                         [&](MPI_Comm* result, MPI_Request* copied) {
                           return native.Comm_idup(comm, result, copied);
                         });
}

ISTHMUS_MPI(Comm_idup_with_info)
(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  const GridCommRef parent = spanning(comm);
  if (!parent) {
    const int code = native_idup_with_info(native, comm, info, newcomm, request);
    settle_handles();
    return code;
  }
  return duplicate_later(parent, comm, info, newcomm, request, "MPI_Comm_idup_with_info",
                         [&](MPI_Comm* result, MPI_Request* copied) {
                           return native_idup_with_info(native, comm, info, result, copied);
                         });
}

}  // namespace isthmus::face
