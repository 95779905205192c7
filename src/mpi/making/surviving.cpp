#include "mpi/making/surviving.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/comm/own_comm.hpp"
#include "mpi/comm/twins.hpp"
#include "mpi/making/comm_shrink.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/face.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/request.hpp"
#include "mpi/survival/agreeing.hpp"
#include "mpi/survival/failed_members.hpp"
#include "mpi/survival/survivors.hpp"

namespace isthmus::face::survival {
namespace {

/// The library's own function, or null. MPICH's, with its usual device (4.0 to 5.0, 2026-11),
/// end the process by an assertion.
template <class... Parameters>
auto library([[maybe_unused]] const char* symbol) {
  using Function = int (*)(Parameters...);
#ifdef OPEN_MPI
  return reinterpret_cast<Function>(native_function(symbol));
#else
  return Function{nullptr};
#endif
}

/// Runs `body`, which throws MpiError.
template <class Body>
int on_grid(const GridCommRef& comm, const char* function, Body&& body) {
  return shielded(comm->native, function, std::forward<Body>(body));
}

const core::Group& both(const GridComm& comm) {
  return comm.inter ? comm.inter->whole->group : comm.group;
}

/// The members that failed in the first of the process's failures; of both sides.
int first_failed(const GridComm& comm, std::uint32_t failures, MPI_Group* failed) {
  const std::vector<std::size_t> clusters = FailedClusters::all().first(failures);
  return make_group(failed_group(both(comm), clusters), comm.session, failed);
}

/// Acknowledges the clusters that failed first, as long as their members are at most `wanted`.
/// Returns the number of members that are acknowledged.
int acknowledge(const GridComm& comm, int wanted) {
  const std::vector<std::size_t> clusters =
      FailedClusters::all().first(FailedClusters::all().count());
  const std::uint32_t before = comm.survival.acknowledged.load();
  std::uint32_t taken = 0;
  int members = 0;
  for (const std::size_t cluster : clusters) {
    const int more = failed_group(both(comm), std::span(&cluster, 1)).size();
    if (taken >= before && members + more > wanted) break;
    members += more;
    ++taken;
  }
  comm.survival.acknowledged.store(std::max(before, taken));
  return members;
}

/// Revokes a communicator whose only member is this process. No other process has to hear of it.
/// The communicator is in the table from now on, and all calls find there that it is revoked.
/// False: it has other members.
bool revoke_own(MPI_Comm comm) {
  const GridCommRef own = enter_own(comm);
  if (!own) return false;
  end_twin(comm);
  Survivors::of(*own)->revoke();
  return true;
}

int no_group(MPI_Group* failed) {
  *failed = MPI_GROUP_EMPTY;
  return MPI_SUCCESS;
}

}  // namespace

int revoke(MPI_Comm comm, const char* function) {
  const GridCommRef found = spanning(comm);
  if (!found) {
    bool revoked = false;
    const int code = shielded(comm, function, [&] { revoked = revoke_own(comm); });
    if (revoked || code != MPI_SUCCESS) return code;
    if (const auto own = library<MPI_Comm>("PMPIX_Comm_revoke")) return own(comm);
    return unsupported(comm, function,
                       "this MPI library cannot revoke a communicator inside one cluster");
  }
  return on_grid(found, function, [&]() -> int {
    if (!FailedClusters::possible()) {
      return unsupported(comm, function,
                         "communicators can be revoked in runs that survive failures: start the "
                         "run with `isthmus run --survive`");
    }
    Survivors::of(*everyone(found))->revoke();
    return MPI_SUCCESS;
  });
}

int is_revoked(MPI_Comm comm, int* flag, const char* function) {
  const GridCommRef found = spanning(comm);
  if (!found) {
    if (const auto own = library<MPI_Comm, int*>("PMPIX_Comm_is_revoked")) return own(comm, flag);
    *flag = 0;
    return MPI_SUCCESS;
  }
  return on_grid(found, function, [&] {
    *flag = found->survival.revoked.load() ? 1 : 0;
    return MPI_SUCCESS;
  });
}

int shrink(MPI_Comm comm, MPI_Comm* newcomm, const char* function) {
  const GridCommRef found = spanning(comm);
  if (!found) {
    const auto own = library<MPI_Comm, MPI_Comm*>("PMPIX_Comm_shrink");
    return settled(own ? parked(own, comm, newcomm) : parked(native.Comm_dup, comm, newcomm));
  }
  return on_grid(found, function, [&] { return face::shrink(found, newcomm); });
}

int ishrink(MPI_Comm comm, const GiveComm& give, MPI_Request* request, const char* function) {
  if (const GridCommRef found = spanning(comm)) {
    return on_grid(found, function, [&] { return shrink_later(found, give, request); });
  }
  MPI_Comm made = MPI_COMM_NULL;
  const int code = shrink(comm, &made, function);
  if (code != MPI_SUCCESS) return code;
  give(made);
  return native.Ibarrier(MPI_COMM_SELF, request);
}

int agree(MPI_Comm comm, int* flag, const char* function) {
  const GridCommRef found = spanning(comm);
  if (!found) {
    if (const auto own = library<MPI_Comm, int*>("PMPIX_Comm_agree")) {
      return parked(own, comm, flag);
    }
    return parked(native.Allreduce, static_cast<const void*>(MPI_IN_PLACE),
                  static_cast<void*>(flag), 1, MPI_INT, MPI_BAND, comm);
  }
  return on_grid(found, function, [&] {
    agree_on_flag(found, flag);
    return MPI_SUCCESS;
  });
}

int iagree(MPI_Comm comm, int* flag, MPI_Request* request, const char* function) {
  const GridCommRef found = spanning(comm);
  if (!found) {
    if (const auto own = library<MPI_Comm, int*, MPI_Request*>("PMPIX_Comm_iagree")) {
      return own(comm, flag, request);
    }
    return native.Iallreduce(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_BAND, comm, request);
  }
  return on_grid(found, function,
                 [&] { return make_request(begin_agreeing(found, flag), request); });
}

int failure_ack(MPI_Comm comm, const char* function) {
  const GridCommRef found = spanning(comm);
  if (!found) {
    const auto own = library<MPI_Comm>("PMPIX_Comm_failure_ack");
    return own ? own(comm) : MPI_SUCCESS;
  }
  return on_grid(found, function, [&] {
    found->survival.acknowledged.store(FailedClusters::all().count());
    return MPI_SUCCESS;
  });
}

int failure_get_acked(MPI_Comm comm, MPI_Group* failed, const char* function) {
  const GridCommRef found = spanning(comm);
  if (!found) {
    const auto own = library<MPI_Comm, MPI_Group*>("PMPIX_Comm_failure_get_acked");
    return own ? own(comm, failed) : no_group(failed);
  }
  return on_grid(found, function,
                 [&] { return first_failed(*found, found->survival.acknowledged.load(), failed); });
}

int get_failed(MPI_Comm comm, MPI_Group* failed, const char* function) {
  const GridCommRef found = spanning(comm);
  if (!found) {
    const auto own = library<MPI_Comm, MPI_Group*>("PMPIX_Comm_get_failed");
    return own ? own(comm, failed) : no_group(failed);
  }
  return on_grid(found, function,
                 [&] { return first_failed(*found, FailedClusters::all().count(), failed); });
}

int ack_failed(MPI_Comm comm, int wanted, int* acknowledged, const char* function) {
  const GridCommRef found = spanning(comm);
  if (!found) {
    const auto own = library<MPI_Comm, int, int*>("PMPIX_Comm_ack_failed");
    if (own) return own(comm, wanted, acknowledged);
    *acknowledged = 0;
    return MPI_SUCCESS;
  }
  return on_grid(found, function, [&] {
    *acknowledged = acknowledge(*found, wanted);
    return MPI_SUCCESS;
  });
}

}  // namespace isthmus::face::survival

using namespace isthmus::face;

// Not in every mpi.h; NOLINTBEGIN(readability-redundant-declaration) where they are.
extern "C" int isthmus_X_Comm_revoke(MPI_Comm comm);
extern "C" int isthmus_X_Comm_is_revoked(MPI_Comm comm, int* flag);
extern "C" int isthmus_X_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm);
extern "C" int isthmus_X_Comm_agree(MPI_Comm comm, int* flag);
extern "C" int isthmus_X_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request);
extern "C" int isthmus_X_Comm_failure_ack(MPI_Comm comm);
extern "C" int isthmus_X_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed);
extern "C" int isthmus_X_Comm_get_failed(MPI_Comm comm, MPI_Group* failed);
extern "C" int isthmus_X_Comm_ack_failed(MPI_Comm comm, int wanted, int* acknowledged);
// NOLINTEND(readability-redundant-declaration)

// coverage: in a run with --survive
ISTHMUS_MPI(X_Comm_revoke)(MPI_Comm comm) { return survival::revoke(comm, "MPIX_Comm_revoke"); }
ISTHMUS_MPI(X_Comm_is_revoked)(MPI_Comm comm, int* flag) {
  return survival::is_revoked(comm, flag, "MPIX_Comm_is_revoked");
}
ISTHMUS_MPI(X_Comm_shrink)(MPI_Comm comm, MPI_Comm* newcomm) {
  return survival::shrink(comm, newcomm, "MPIX_Comm_shrink");
}
ISTHMUS_MPI(X_Comm_agree)(MPI_Comm comm, int* flag) {
  return survival::agree(comm, flag, "MPIX_Comm_agree");
}
ISTHMUS_MPI(X_Comm_iagree)(MPI_Comm comm, int* flag, MPI_Request* request) {
  return survival::iagree(comm, flag, request, "MPIX_Comm_iagree");
}
ISTHMUS_MPI(X_Comm_failure_ack)(MPI_Comm comm) {
  return survival::failure_ack(comm, "MPIX_Comm_failure_ack");
}
ISTHMUS_MPI(X_Comm_failure_get_acked)(MPI_Comm comm, MPI_Group* failed) {
  return survival::failure_get_acked(comm, failed, "MPIX_Comm_failure_get_acked");
}
ISTHMUS_MPI(X_Comm_get_failed)(MPI_Comm comm, MPI_Group* failed) {
  return survival::get_failed(comm, failed, "MPIX_Comm_get_failed");
}
ISTHMUS_MPI(X_Comm_ack_failed)(MPI_Comm comm, int wanted, int* acknowledged) {
  return survival::ack_failed(comm, wanted, acknowledged, "MPIX_Comm_ack_failed");
}
