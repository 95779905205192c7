#include "mpi/making/surviving_asked.hpp"

#include "mpi/making/surviving.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/survival_errors.hpp"

using namespace isthmus::face;

namespace {

MPI_Comm comm_at(const void* comm) { return *static_cast<const MPI_Comm*>(comm); }
MPI_Group* group_at(void* group) { return static_cast<MPI_Group*>(group); }
MPI_Request* request_at(void* request) { return static_cast<MPI_Request*>(request); }

// MPICH has macros, and before 4.1 no functions; the standard ABI other names.
#if defined(OPEN_MPI)
MPI_Comm from_fortran(int comm) { return native.Comm_f2c(comm); }
int to_fortran(MPI_Comm comm) { return native.Comm_c2f(comm); }
int to_fortran(MPI_Group group) { return native.Group_c2f(group); }
int to_fortran(MPI_Request request) { return native.Request_c2f(request); }
#elif defined(ISTHMUS_HAS_Comm_c2f) || defined(MPI_Comm_c2f)
// All handles are integers, of one type.
MPI_Comm from_fortran(int comm) { return MPI_Comm_f2c(comm); }
int to_fortran(int handle) { return MPI_Comm_c2f(handle); }
#else
MPI_Comm from_fortran(int comm) { return native.Comm_fromint(comm); }
int to_fortran(MPI_Comm comm) { return native.Comm_toint(comm); }
int to_fortran(MPI_Group group) { return native.Group_toint(group); }
int to_fortran(MPI_Request request) { return native.Request_toint(request); }
#endif

/// Calls `make(&handle)` and gives Fortran the handle if there is one.
template <class Handle, class Make>
int made_for_fortran(int* place, Make&& make) {
  Handle handle{};
  const int code = make(&handle);
  if (code == MPI_SUCCESS) *place = to_fortran(handle);
  return code;
}

}  // namespace

int isthmus_survival_possible() { return FailedClusters::possible() ? 1 : 0; }

int isthmus_survival_error(int which) {
  if (which == 0) return proc_failed();
  return which == 1 ? proc_failed_pending() : revoked();
}

int isthmus_survival_revoke(const void* comm) {
  return survival::revoke(comm_at(comm), "isthmus_comm_revoke");
}
int isthmus_survival_is_revoked(const void* comm, int* flag) {
  return survival::is_revoked(comm_at(comm), flag, "isthmus_comm_is_revoked");
}
int isthmus_survival_shrink(const void* comm, void* newcomm) {
  return survival::shrink(comm_at(comm), static_cast<MPI_Comm*>(newcomm), "isthmus_comm_shrink");
}
int isthmus_survival_ishrink(const void* comm, void* newcomm, void* request) {
  auto* const place = static_cast<MPI_Comm*>(newcomm);
  return survival::ishrink(
      comm_at(comm), [place](MPI_Comm made) { *place = made; }, request_at(request),
      "isthmus_comm_ishrink");
}
int isthmus_survival_agree(const void* comm, int* flag) {
  return survival::agree(comm_at(comm), flag, "isthmus_comm_agree");
}
int isthmus_survival_iagree(const void* comm, int* flag, void* request) {
  return survival::iagree(comm_at(comm), flag, request_at(request), "isthmus_comm_iagree");
}
int isthmus_survival_failure_ack(const void* comm) {
  return survival::failure_ack(comm_at(comm), "isthmus_comm_failure_ack");
}
int isthmus_survival_failure_get_acked(const void* comm, void* group) {
  return survival::failure_get_acked(comm_at(comm), group_at(group),
                                     "isthmus_comm_failure_get_acked");
}
int isthmus_survival_get_failed(const void* comm, void* group) {
  return survival::get_failed(comm_at(comm), group_at(group), "isthmus_comm_get_failed");
}
int isthmus_survival_ack_failed(const void* comm, int wanted, int* acknowledged) {
  return survival::ack_failed(comm_at(comm), wanted, acknowledged, "isthmus_comm_ack_failed");
}

int isthmus_survival_revoke_f(int comm) {
  return survival::revoke(from_fortran(comm), "isthmus_comm_revoke");
}
int isthmus_survival_is_revoked_f(int comm, int* flag) {
  return survival::is_revoked(from_fortran(comm), flag, "isthmus_comm_is_revoked");
}
int isthmus_survival_shrink_f(int comm, int* newcomm) {
  return made_for_fortran<MPI_Comm>(newcomm, [comm](MPI_Comm* made) {
    return survival::shrink(from_fortran(comm), made, "isthmus_comm_shrink");
  });
}
// It waits: the subroutine copies the handle when this returns.
int isthmus_survival_ishrink_f(int comm, int* newcomm, int* request) {
  return made_for_fortran<MPI_Request>(request, [comm, newcomm](MPI_Request* begun) {
    const int code = isthmus_survival_shrink_f(comm, newcomm);
    return code == MPI_SUCCESS ? native.Ibarrier(MPI_COMM_SELF, begun) : code;
  });
}
int isthmus_survival_agree_f(int comm, int* flag) {
  return survival::agree(from_fortran(comm), flag, "isthmus_comm_agree");
}
int isthmus_survival_iagree_f(int comm, int* flag, int* request) {
  return made_for_fortran<MPI_Request>(request, [comm, flag](MPI_Request* begun) {
    return survival::iagree(from_fortran(comm), flag, begun, "isthmus_comm_iagree");
  });
}
int isthmus_survival_failure_ack_f(int comm) {
  return survival::failure_ack(from_fortran(comm), "isthmus_comm_failure_ack");
}
int isthmus_survival_failure_get_acked_f(int comm, int* group) {
  return made_for_fortran<MPI_Group>(group, [comm](MPI_Group* made) {
    return survival::failure_get_acked(from_fortran(comm), made, "isthmus_comm_failure_get_acked");
  });
}
int isthmus_survival_get_failed_f(int comm, int* group) {
  return made_for_fortran<MPI_Group>(group, [comm](MPI_Group* made) {
    return survival::get_failed(from_fortran(comm), made, "isthmus_comm_get_failed");
  });
}
int isthmus_survival_ack_failed_f(int comm, int wanted, int* acknowledged) {
  return survival::ack_failed(from_fortran(comm), wanted, acknowledged, "isthmus_comm_ack_failed");
}
