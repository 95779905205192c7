// MPI_Comm_dup and its variants. The program's own handle is duplicated natively, so that
// attribute copy functions run, and info and error handlers come along.
#include <dlfcn.h>

#include <memory>
#include <string_view>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/comm_info.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/duplication.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/outcome.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// `copy(handle, &result)` duplicates natively.
template <class Copy>
int duplicate(const GridCommRef& parent, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
              const char* function, Copy&& copy) {
  return shielded(comm, function, [&] {
    const coll::Forced forced = forced_by(info, parent->forced);
    const std::uint64_t context = agree_on_context(parent);
    const auto make = [&](MPI_Comm* made) {
      MPI_Comm result = MPI_COMM_NULL;
      const NativeCreation creation;
      if (const int code = parked(copy, comm, &result); code != MPI_SUCCESS) return code;
      return finish_like(*parent, context, result, made);
    };
    const int code = make_together(
        make, [&](bool mine) { return all_succeeded(parent, mine); }, newcomm);
    if (GridComm* const made = find_comm(*newcomm); code == MPI_SUCCESS && made != nullptr) {
      made->forced = forced;
      everyone(made->shared_from_this())->forced = forced;
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

/// An info object that the program may free, for a duplication that begins later.
class KeptInfo {
 public:
  explicit KeptInfo(MPI_Info info) {
    if (info != MPI_INFO_NULL) native.Info_dup(info, &info_);
  }
  ~KeptInfo() {
    if (info_ != MPI_INFO_NULL && grid() != nullptr) native.Info_free(&info_);
  }
  KeptInfo(const KeptInfo&) = delete;
  KeptInfo& operator=(const KeptInfo&) = delete;
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// Whether `caller`, a return address, lies in Open MPI's Fortran layer. That gives MPI_Comm_idup a
/// variable of its own for the handle and copies what it has when the call returns.
bool copies_handle_at_once([[maybe_unused]] const void* caller) {
#ifdef OPEN_MPI
  Dl_info where{};
  return dladdr(caller, &where) != 0 && where.dli_fname != nullptr &&
         std::string_view(where.dli_fname).find("libmpi_") != std::string_view::npos;
#else
  return false;
#endif
}

/// Where it is not the duplication's turn yet, *newcomm is written later, as MPI allows: it is the
/// program's to read when the request has completed. Only the Fortran layer has to wait.
int duplicate_later(const GridCommRef& parent, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                    MPI_Request* request, const char* function, Duplication::Begin begin,
                    const void* caller) {
  return shielded(comm, function, [&] {
    const coll::Forced forced = forced_by(info, parent->forced);
    auto duplication =
        std::make_unique<Duplication>(parent, function, std::move(begin), newcomm, forced);
    *newcomm = MPI_COMM_NULL;
    if (!duplication->begin() && copies_handle_at_once(caller)) {
      wait_until([&] { return duplication->begin(); });
    }
    if (duplication->code() != MPI_SUCCESS) return duplication->code();
    return make_request(std::move(duplication), request);
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

// coverage: the handle comes when collectives that were begun before have ended
ISTHMUS_MPI(Comm_idup)(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  const GridCommRef parent = spanning(comm);
  if (!parent) {
    const int code = native.Comm_idup(comm, newcomm, request);
    settle_handles();
    return code;
  }
  return duplicate_later(
      parent, comm, MPI_INFO_NULL, newcomm, request, "MPI_Comm_idup",
      [comm](MPI_Comm* made, MPI_Request* copied) { return native.Comm_idup(comm, made, copied); },
      __builtin_return_address(0));
}

// coverage: the handle comes when collectives that were begun before have ended
ISTHMUS_MPI(Comm_idup_with_info)
(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  const GridCommRef parent = spanning(comm);
  if (!parent) {
    const int code = native_idup_with_info(native, comm, info, newcomm, request);
    settle_handles();
    return code;
  }
  return duplicate_later(
      parent, comm, info, newcomm, request, "MPI_Comm_idup_with_info",
      [comm, kept = std::make_shared<KeptInfo>(info)](MPI_Comm* made, MPI_Request* copied) {
        return native_idup_with_info(native, comm, kept->get(), made, copied);
      },
      __builtin_return_address(0));
}

}  // namespace isthmus::face
