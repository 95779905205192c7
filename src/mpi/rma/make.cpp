// MPI-4.1 section 12.2: how windows come to be, and end.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <utility>

#include "mpi/coll/coll_checks.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/local_vote.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/native/large_count.hpp"
#include "mpi/process/outcome.hpp"
#include "mpi/process/require.hpp"
#include "mpi/rma/device_memory.hpp"
#include "mpi/rma/window.hpp"

namespace isthmus::face {
namespace {

/// A communicator of the window's own: messages of its operations use the contexts, and freeing the
/// program's does not matter.
MPI_Comm private_comm(const GridCommRef& parent) {
  const std::uint64_t context = agree_on_context(parent);
  const auto make = [&](MPI_Comm* made) {
    const NativeCreation creation;
    return finish_like(*parent, context, plain_copy(parent->native), made);
  };
  MPI_Comm made = MPI_COMM_NULL;
  const int code = make_together(
      make, [&](bool mine) { return all_succeeded(parent, context, mine); }, &made);
  if (code != MPI_SUCCESS) throw MpiError(MPI_ERR_OTHER, "the window has no communicator");
  return made;
}

rma::WindowConfig config_of(const GridWindow& window) {
  const GridComm& comm = *window.comm;
  rma::WindowConfig config{.context = comm.context,
                           .rank = comm.rank,
                           .nodes = {},
                           .turn = window.host ? window.host->turn() : nullptr,
                           .open_device = open_device};
  for (int rank = 0; rank < comm.size; ++rank) {
    config.nodes.push_back(static_cast<core::NodeId>(comm.group.node(rank)));
  }
  return config;
}

/// This process's part of a window.
struct Part {
  MPI_Aint size = 0;
  std::int64_t disp_unit = 1;
  void* base = nullptr;
  int flavour = MPI_WIN_FLAVOR_CREATE;
  MPI_Win handle = MPI_WIN_NULL;
  std::optional<HostMemory> host = std::nullopt;
  rma::Reach reach = rma::Reach::Cpu;
};

/// The handle is a native window of this process alone, with the native library's attributes. Not
/// every library makes every kind: if Open MPI 4.1 cannot create one, one is allocated.
template <class Make>
void make_handle(Part& part, MPI_Info info, Make&& make) {
  require(part.size >= 0, MPI_ERR_SIZE, "the size is negative");
  require(part.disp_unit > 0, MPI_ERR_DISP, "the displacement unit is not positive");
  const Inside inside;
  int code = make(grid()->self);
  if (code != MPI_SUCCESS && (part.host || part.flavour != MPI_WIN_FLAVOR_ALLOCATE)) {
    void* none = nullptr;
    code = native.Win_allocate(0, 1, info, grid()->self, static_cast<void*>(&none), &part.handle);
  }
  require_success(code, "the native library makes no window");
}

/// Memory that begins with a page is aligned as the program requests (MPI-4.1 section 12.2.2).
bool page_will_do(MPI_Info info) {
  if (info == MPI_INFO_NULL) return true;
  char text[32] = "";
  int found = 0;
  const Inside inside;
  const int code =
      native.Info_get(info, "mpi_minimum_memory_alignment", sizeof text - 1, text, &found);
  return code == MPI_SUCCESS &&
         (found == 0 || std::strtoll(text, nullptr, 10) <= sysconf(_SC_PAGESIZE));
}

/// Memory in other clusters is accessed as a far target's, even on one host, and so is memory of a
/// device.
void find_peers(GridWindow& window) {
  window.peers.resize(window.exposed.size());
  window.near.resize(window.comm->size);
  if (window.dynamic()) return;
  bool given = false;
  for (int rank = 0; rank < window.comm->size; ++rank) {
    if (is_far(window, rank)) continue;
    const auto at = static_cast<std::size_t>(rank);
    const Exposed& there = window.exposed[at];
    if (there.on_device()) continue;
    given = given || there.memory.pid != 0;
    if (rank == window.comm->rank) {
      window.near.add(rank, static_cast<std::byte*>(window.base), there.size, there.disp_unit);
      if (window.host) window.near.combine_in(rank, window.host->turn());
    } else if (auto mapped = HostMemory::reach(there.memory)) {
      window.near.add(rank, std::move(*mapped), there.size, there.disp_unit);
    } else {
      auto& peer = window.peers[at];
      peer = core::PeerMemory::reach(there.address);
      if (peer) window.near.add(rank, *peer, there.size, there.disp_unit);
    }
  }
  if (!given) return;
  // The others of the cluster have reached this process's memory, or cannot.
  {
    const Inside inside;
    require_success(parked(native.Barrier, window.handle), "the cluster's members do not meet");
  }
  if (window.host) window.host->close();
}

/// Memory for a window that MPI_Win_allocate makes. Empty: the process has no neighbour to share it
/// with, or the system or the program wants it otherwise.
std::optional<HostMemory> host_memory(const GridComm& comm, MPI_Aint size, MPI_Info info) {
  const auto& nodes = comm.group.nodes();
  const auto near = std::count_if(nodes.begin(), nodes.end(), [](int node) {
    return grid()->world().cluster_of(node) == grid()->cluster;
  });
  if (near < 2 || size <= 0 || !page_will_do(info)) return std::nullopt;
  return HostMemory::make(static_cast<std::size_t>(size));
}

/// All members learn each other's parts, and reach the memory of those in their cluster.
void introduce(GridWindow& window, Part& part) {
  const bool on_device = part.reach == rma::Reach::Device;
  const bool device = on_device || (window.dynamic() && has_gpu_driver());
  const Exposed mine{
      static_cast<std::uint64_t>(part.size), part.disp_unit,
      on_device ? core::PeerMemory::Address{} : core::PeerMemory::of_this_process(part.base),
      part.host ? part.host->address() : HostMemory::Address{}, device ? 1U : 0U};
  before_native(*window.comm, [&] { window.exposed = tell_all(window.comm, mine); });
  window.host = std::move(part.host);
  find_peers(window);
}

/// All but the handle.
GridWindowRef make_rest(const GridCommRef& parent, Part& part) {
  auto window = std::make_shared<GridWindow>();
  window->native = part.handle;
  window->base = part.base;
  window->flavour = part.flavour;
  window->handle = private_comm(parent);
  window->comm = share_comm(window->handle);
  const auto meet_all = [&] {
    introduce(*window, part);
    return true;
  };
  try {
    sealed(window->comm->group, window->comm->context, meet_all);
  } catch (...) {
    window->comm.reset();
    isthmus_Comm_free(&window->handle);
    throw;
  }
  const auto size = static_cast<std::uint64_t>(part.size);
  grid()->endpoint->locked([&](core::Engine& engine) {
    window->part = std::make_unique<rma::Window>(
        engine, config_of(*window),
        window->dynamic() ? rma::Memory::dynamic()
                          : rma::Memory::fixed(part.base, size, part.reach));
  });
  return window;
}

/// `make(comm)` makes the handle over that communicator; returns a native error code.
template <class Make>
int make_window(const GridCommRef& parent, Part& part, MPI_Info info, MPI_Win* win, Make&& make) {
  require_intracomm(*parent);
  look_for_drivers_again();  // origins may give memory of a GPU, whatever their part is
  std::exception_ptr wrong;
  try {
    make_handle(part, info, make);
  } catch (...) {
    wrong = std::current_exception();
  }
  try {
    const bool all = all_succeeded(parent, !wrong);
    if (wrong) std::rethrow_exception(wrong);
    require(all, MPI_ERR_OTHER, "another member could not make its part of the window");
    enter_window(make_rest(parent, part));
  } catch (...) {
    const Inside inside;
    if (!wrong) native.Win_free(&part.handle);
    throw;
  }
  *win = part.handle;
  return MPI_SUCCESS;
}

template <class Unit>
int create(void* base, MPI_Aint size, Unit disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win,
           const char* function) {
  const auto make = ISTHMUS_NATIVE(Win_create, Unit);
  const GridCommRef parent = shared_grid_comm(comm);
  if (!parent) return parked(make, base, size, disp_unit, info, comm, win);
  return shielded(comm, function, [&] {
    Part part{.size = size, .disp_unit = disp_unit, .base = base};
    if (size > 0) part.reach = reach_of(base, static_cast<std::size_t>(size));
    // The native library has nothing to do with the memory, and might not know the device.
    const bool native_too = part.reach == rma::Reach::Cpu;
    return make_window(parent, part, info, win, [&](MPI_Comm own) {
      return make(native_too ? base : nullptr, native_too ? size : 0, disp_unit, info, own,
                  &part.handle);
    });
  });
}

template <class Unit>
int allocate(MPI_Aint size, Unit disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win, const char* function) {
  const auto make = ISTHMUS_NATIVE(Win_allocate, Unit);
  const GridCommRef parent = shared_grid_comm(comm);
  if (!parent) return parked(make, size, disp_unit, info, comm, baseptr, win);
  return shielded(comm, function, [&] {
    Part part{.size = size, .disp_unit = disp_unit, .flavour = MPI_WIN_FLAVOR_ALLOCATE};
    part.host = host_memory(*parent, size, info);
    if (part.host) part.base = part.host->base();
    const int code = make_window(parent, part, info, win, [&](MPI_Comm own) {
      if (part.host) {
        return ISTHMUS_NATIVE(Win_create, Unit)(part.base, size, disp_unit, info, own,
                                                &part.handle);
      }
      return make(size, disp_unit, info, own, static_cast<void*>(&part.base), &part.handle);
    });
    if (code == MPI_SUCCESS) *static_cast<void**>(baseptr) = part.base;
    return code;
  });
}

template <class Unit>
int allocate_shared(MPI_Aint size, Unit disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                    MPI_Win* win, const char* function) {
  if (shared_grid_comm(comm) == nullptr) {
    return parked(ISTHMUS_NATIVE(Win_allocate_shared, Unit), size, disp_unit, info, comm, baseptr,
                  win);
  }
  return shielded(comm, function, []() -> int {
    throw MpiError(MPI_ERR_RMA_SHARED,
                   "the members are in several clusters and share no memory; split the "
                   "communicator with MPI_COMM_TYPE_SHARED first");
  });
}

template <class Unit>
int shared_query(MPI_Win win, int rank, MPI_Aint* size, Unit* disp_unit, void* baseptr,
                 const char* function) {
  const GridWindowRef window = grid_window(win);
  if (!window) {
    return ISTHMUS_NATIVE(Win_shared_query, Unit)(win, rank, size, disp_unit, baseptr);
  }
  return shielded(*window, function, [&] {
    require(!window->dynamic(), MPI_ERR_RMA_FLAVOR,
            "a window of MPI_Win_create_dynamic has no memory to be asked for");
    if (rank == MPI_PROC_NULL) {
      const auto& all = window->exposed;
      const auto first =
          std::find_if(all.begin(), all.end(), [](const Exposed& each) { return each.size > 0; });
      rank = first == all.end() ? 0 : static_cast<int>(first - all.begin());
    }
    require(rank >= 0 && rank < window->comm->size, MPI_ERR_RANK,
            "there is no such rank in the window");
    const Exposed& there = window->exposed[static_cast<std::size_t>(rank)];
    void* const memory = rank == window->comm->rank ? window->base : window->near.memory(rank);
    *size = memory != nullptr ? static_cast<MPI_Aint>(there.size) : 0;
    *disp_unit = static_cast<Unit>(there.disp_unit);
    *static_cast<void**>(baseptr) = memory;
  });
}

void check_free(GridWindow& window) {
  const core::Lock lock(window.mutex);
  require(!window.epochs.any_lock() && !window.epochs.started && !window.epochs.posted,
          MPI_ERR_RMA_SYNC, "the window is freed in an epoch: unlock, complete or wait first");
}

}  // namespace

#include "make_entries.inc"

ISTHMUS_MPI(Win_create_dynamic)(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  const GridCommRef parent = shared_grid_comm(comm);
  if (!parent) return parked(native.Win_create_dynamic, info, comm, win);
  return shielded(comm, "MPI_Win_create_dynamic", [&] {
    Part part{.flavour = MPI_WIN_FLAVOR_DYNAMIC};
    return make_window(parent, part, info, win, [&](MPI_Comm own) {
      return native.Win_create_dynamic(info, own, &part.handle);
    });
  });
}

ISTHMUS_MPI(Win_attach)(MPI_Win win, void* base, MPI_Aint size) {
  const GridWindowRef window = grid_window(win);
  if (!window) return native.Win_attach(win, base, size);
  return shielded(*window, "MPI_Win_attach", [&] {
    require(window->dynamic(), MPI_ERR_RMA_FLAVOR, "the window is not a dynamic one");
    require(size >= 0, MPI_ERR_SIZE, "the size is negative");
    const auto bytes = static_cast<std::size_t>(size);
    const rma::Reach reach = reach_of(base, bytes);
    const bool attached = with_part(*window, [&](rma::Window& part) {
      return part.target().memory().attach(base, bytes, reach);
    });
    require(attached, MPI_ERR_RMA_ATTACH, "the memory overlaps what is attached already");
  });
}

ISTHMUS_MPI(Win_detach)(MPI_Win win, const void* base) {
  const GridWindowRef window = grid_window(win);
  if (!window) return native.Win_detach(win, base);
  return shielded(*window, "MPI_Win_detach", [&] {
    std::uint64_t lent = 0;
    const bool detached = with_part(*window, [&](rma::Window& part) {
      lent = part.target().lent();
      return part.target().memory().detach(base);
    });
    require(detached, MPI_ERR_RMA_ATTACH, "no attached memory begins there");
    // An origin may have its answer before this process knows. The program may unmap the memory.
    wait_for(*window, "MPI_Win_detach",
             [lent](const rma::Window& part) { return part.target().given_back(lent); });
  });
}

ISTHMUS_MPI(Win_free)(MPI_Win* win) {
  const GridWindowRef window = win != nullptr ? grid_window(*win) : nullptr;
  if (!window) return parked(native.Win_free, win);
  return shielded(*window, "MPI_Win_free", [&] {
    check_free(*window);
    wait_for(*window, "MPI_Win_free", [&](rma::Window& part) {
      part.send_all();
      return part.quiet();
    });
    meet_living(window->comm);
    wait_for(*window, "MPI_Win_free", [](const rma::Window& part) { return part.quiet(); });
    remove_window(*win);
    grid()->endpoint->locked([&](core::Engine&) { window->part.reset(); });
    const int code = native.Win_free(win);
    // Another run may end as soon as it has left the window.
    const bool alone = std::exchange(window->comm, nullptr)->runs.empty() || may_lose();
    (alone ? isthmus_Comm_free : isthmus_Comm_disconnect)(&window->handle);
    return code;
  });
}

ISTHMUS_MPI(Win_get_group)(MPI_Win win, MPI_Group* group) {
  const GridWindowRef window = grid_window(win);
  if (!window) return native.Win_get_group(win, group);
  return shielded(*window, "MPI_Win_get_group",
                  [&] { return make_group(window->comm->group, window->comm->session, group); });
}

}  // namespace isthmus::face
