#include "mpi/comm/twins.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/base/mutex.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"

namespace isthmus::face {
namespace {

/// The choice for a native communicator, and its twin.
struct NativeComm {
  std::optional<bool> chosen;
  bool examined = false;
  GridCommRef twin;  // null after examination: it needs none
};

// Never destroyed: programs free communicators in destructors of their own static objects.
struct NativeComms {
  core::Mutex mutex;
  std::unordered_map<std::uintptr_t, NativeComm> all GUARDED_BY(mutex);
  std::atomic<bool> any{false};  // has ever had an entry
};
NativeComms& natives() {
  static auto* const one = new NativeComms;
  return *one;
}

/// Null for intercommunicators and single processes. Throws MpiError.
GridCommRef make_twin(MPI_Comm comm) {
  const Inside inside;
  int between = 0, size = 0;
  if (native.Comm_test_inter(comm, &between) != MPI_SUCCESS || between != 0) return nullptr;
  if (native.Comm_size(comm, &size) != MPI_SUCCESS || size < 2) return nullptr;
  MPI_Group handle = MPI_GROUP_NULL;
  if (native.Comm_group(comm, &handle) != MPI_SUCCESS) return nullptr;
  core::Group group = group_of(handle);
  native.Group_free(&handle);
  GridCommRef twin = make_comm(std::move(group), fresh_context(), comm, TagRange());
  twin->twin = twin->reproducible = true;
  twin->twin_tags = std::make_shared<TwinTags>(comm, twin->rank == 0);
  return twin;
}

}  // namespace

TwinTags::TwinTags(MPI_Comm comm, bool first) : number(std::make_unique<std::int32_t>(-1)) {
  const Inside inside;
  if (first) {
    // Distinct among the first ranks of this cluster, and among the twins of each.
    static std::atomic<std::int64_t> made{0};
    const Grid& here = *grid();
    const std::int64_t wanted =
        here.native_of(here.node) + here.local_size * made.fetch_add(1, std::memory_order_relaxed);
    *number =
        static_cast<std::int32_t>(wanted % traffic::twin_ranges(here.shadow->tag_upper_bound));
  }
  native.Ibcast(number.get(), sizeof *number, MPI_BYTE, 0, comm, &request);
}

TwinTags::~TwinTags() {
  // The library may still write there.
  if (grid() == nullptr || !known()) static_cast<void>(number.release());
}

bool TwinTags::known() {
  if (request == MPI_REQUEST_NULL) return true;
  const Inside inside;
  int done = 0;
  return native.Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
}

bool has_tags(GridComm& comm) {
  if (!comm.twin_tags) return true;
  if (!comm.twin_tags->known()) return false;
  comm.tags = TagRange::of_twin(*comm.twin_tags->number);
  comm.twin_tags.reset();
  return true;
}

GridCommRef twin_of(MPI_Comm comm) {
  NativeComms& known = natives();
  const bool usual = grid()->reproducible;
  if (comm == MPI_COMM_NULL || (!usual && !known.any.load(std::memory_order_acquire))) {
    return nullptr;
  }
  {
    const core::Lock lock(known.mutex);
    const auto found = known.all.find(key(comm));
    if (found == known.all.end() && !usual) return nullptr;
    if (found != known.all.end()) {
      if (!found->second.chosen.value_or(usual)) return nullptr;
      if (found->second.examined) return found->second.twin;
    }
  }
  GridCommRef twin;
  try {
    twin = make_twin(comm);
  } catch (const MpiError&) {
    twin = nullptr;  // a process is not of the grid
  }
  const core::Lock lock(known.mutex);
  NativeComm& entry = known.all[key(comm)];
  entry.examined = true;
  entry.twin = twin;
  known.any.store(true, std::memory_order_release);
  return twin;
}

void choose_reproducible(MPI_Comm comm, bool reproducible) {
  NativeComms& known = natives();
  const core::Lock lock(known.mutex);
  known.all[key(comm)].chosen = reproducible;
  known.any.store(true, std::memory_order_release);
}

void copy_reproducible(MPI_Comm from, MPI_Comm to) {
  NativeComms& known = natives();
  if (!known.any.load(std::memory_order_acquire)) return;
  const core::Lock lock(known.mutex);
  const auto found = known.all.find(key(from));
  if (found == known.all.end() || !found->second.chosen) return;
  const bool chosen = *found->second.chosen;
  known.all[key(to)].chosen = chosen;
}

void end_twin(MPI_Comm comm) {
  NativeComms& known = natives();
  if (comm == MPI_COMM_NULL || !known.any.load(std::memory_order_acquire)) return;
  GridCommRef twin;
  {
    const core::Lock lock(known.mutex);
    const auto found = known.all.find(key(comm));
    if (found == known.all.end()) return;
    twin = std::move(found->second.twin);
    known.all.erase(found);
  }
  if (!twin) return;
  const Inside inside;
  native.Comm_get_errhandler(comm, &twin->last_handler);
  twin->freed.store(true, std::memory_order_release);
}

}  // namespace isthmus::face
