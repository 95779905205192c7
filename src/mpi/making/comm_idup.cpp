// MPI_Comm_idup and MPI_Comm_idup_with_info: as MPI_Comm_dup, while the program does other things.
#include <dlfcn.h>

#include <memory>
#include <string_view>
#include <utility>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/comm_info.hpp"
#include "mpi/making/duplication.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/face.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// Looks the function up in the table: not every mpi.h declares it.
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

#ifdef OPEN_MPI
/// The Fortran layer's place for the handle: it gives MPI_Comm_idup a variable of its own, and
/// copies its value when the call returns.
thread_local MPI_Fint* fortran_newcomm = nullptr;
#endif

Duplication::Give giving_to(MPI_Comm* newcomm) {
#ifdef OPEN_MPI
  // Only for one call: functions that copy attributes may duplicate, too.
  if (MPI_Fint* const to = std::exchange(fortran_newcomm, nullptr); to != nullptr) {
    return [to](MPI_Comm made) { *to = native.Comm_c2f(made); };
  }
#endif
  return [newcomm](MPI_Comm made) { *newcomm = made; };
}

/// Whether `caller`, a return address, lies in a Fortran layer of Open MPI that calls directly,
/// without idup_for_fortran. 5.0 has none that is known.
bool copies_handle_at_once([[maybe_unused]] const void* caller) {
#ifdef OPEN_MPI
  Dl_info where{};
  return dladdr(caller, &where) != 0 && where.dli_fname != nullptr &&
         std::string_view(where.dli_fname).find("libmpi_") != std::string_view::npos;
#else
  return false;
#endif
}

/// If it is not the duplication's turn yet, *newcomm is written later, as MPI allows: the program
/// may read it when the request has completed. A layer that copies the handle at once waits.
int duplicate_later(const GridCommRef& parent, MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                    MPI_Request* request, const char* function, Duplication::Begin begin,
                    const void* caller) {
  return shielded(comm, function, [&] {
    const Hints hints = hints_by(info, parent);
    const Duplication::Give give = giving_to(newcomm);
    give(MPI_COMM_NULL);
    auto duplication =
        std::make_unique<Duplication>(parent, function, std::move(begin), give, hints);
    if (!duplication->begin() && copies_handle_at_once(caller)) {
      wait_until([&] { return duplication->begin(); });
    }
    if (duplication->code() != MPI_SUCCESS) return duplication->code();
    return make_request(std::move(duplication), request);
  });
}

}  // namespace

// coverage: the handle comes when collectives that were begun before have ended
ISTHMUS_MPI(Comm_idup)(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  const GridCommRef parent = spanning(comm);
  if (!parent) return settled(native.Comm_idup(comm, newcomm, request));
  return duplicate_later(
      parent, comm, MPI_INFO_NULL, newcomm, request, "MPI_Comm_idup",
      [comm](MPI_Comm* made, MPI_Request* copied) { return native.Comm_idup(comm, made, copied); },
      __builtin_return_address(0));
}

// coverage: the handle comes when collectives that were begun before have ended
ISTHMUS_MPI(Comm_idup_with_info)
(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  const GridCommRef parent = spanning(comm);
  if (!parent) return settled(native_idup_with_info(native, comm, info, newcomm, request));
  return duplicate_later(
      parent, comm, info, newcomm, request, "MPI_Comm_idup_with_info",
      [comm, kept = std::make_shared<KeptInfo>(info)](MPI_Comm* made, MPI_Request* copied) {
        return native_idup_with_info(native, comm, kept->get(), made, copied);
      },
      __builtin_return_address(0));
}

#ifdef OPEN_MPI
extern "C" {
int isthmus_profiled_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request);
int isthmus_profiled_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                                         MPI_Request* request);
void isthmus_fortran_comm_idup(MPI_Fint* comm, MPI_Fint* newcomm, MPI_Fint* request,
                               MPI_Fint* ierror);
void isthmus_fortran_comm_idup_with_info(MPI_Fint* comm, MPI_Fint* info, MPI_Fint* newcomm,
                                         MPI_Fint* request, MPI_Fint* ierror);
}

namespace {

/// `idup` is the function of C. `ierror` may be null: in mpi_f08 it is optional.
template <class Idup>
void idup_for_fortran(MPI_Comm comm, MPI_Fint* newcomm, MPI_Fint* request, MPI_Fint* ierror,
                      Idup&& idup) {
  MPI_Comm made = MPI_COMM_NULL;  // stays so if the grid gives the handle
  MPI_Request begun = MPI_REQUEST_NULL;
  if (spanning(comm)) fortran_newcomm = newcomm;
  const int code = idup(comm, &made, &begun);
  fortran_newcomm = nullptr;
  if (ierror != nullptr) *ierror = code;
  if (code != MPI_SUCCESS) return;
  if (made != MPI_COMM_NULL) *newcomm = native.Comm_c2f(made);
  *request = native.Request_c2f(begun);
}

}  // namespace

// Replaces Open MPI's own, which read the handle too early (src/preload/fortran.c).

void isthmus_fortran_comm_idup(MPI_Fint* comm, MPI_Fint* newcomm, MPI_Fint* request,
                               MPI_Fint* ierror) {
  auto* const idup = profiles() ? isthmus_profiled_Comm_idup : isthmus_Comm_idup;
  idup_for_fortran(native.Comm_f2c(*comm), newcomm, request, ierror, idup);
}

void isthmus_fortran_comm_idup_with_info(MPI_Fint* comm, MPI_Fint* info, MPI_Fint* newcomm,
                                         MPI_Fint* request, MPI_Fint* ierror) {
  // Open MPI 4's header lacks the function, so it has no counting wrapper.
#if OMPI_MAJOR_VERSION >= 5
  auto* const idup =
      profiles() ? isthmus_profiled_Comm_idup_with_info : isthmus_Comm_idup_with_info;
#else
  auto* const idup = isthmus_Comm_idup_with_info;
#endif
  idup_for_fortran(native.Comm_f2c(*comm), newcomm, request, ierror,
                   [&](MPI_Comm parent, MPI_Comm* made, MPI_Request* begun) {
                     return idup(parent, native.Info_f2c(*info), made, begun);
                   });
}
#endif

}  // namespace isthmus::face
