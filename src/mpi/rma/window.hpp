// A window that spans clusters. Its handle is a genuine native window of this process alone, so the
// program's attributes, names, error handlers, info and f2c/c2f are native. Every operation and all
// synchronization go by rma::Window, in whichever cluster the target is (docs/decisions/0016). A
// window within one cluster is native and never in the table.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/base/mutex.hpp"
#include "core/engine/peer_memory.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/native/native.hpp"
#include "mpi/rma/host_memory.hpp"
#include "mpi/rma/near_memory.hpp"
#include "rma/window.hpp"

namespace isthmus::face {

/// The memory that a member exposes to others.
struct Exposed {
  std::uint64_t size = 0;  ///< bytes
  std::int64_t disp_unit = 1;
  core::PeerMemory::Address address;  ///< for processes of its cluster
  HostMemory::Address memory;         ///< for processes of its cluster
  std::uint64_t device = 0;           ///< 1: as on_device() tells
  /// Only the member's device reaches it: `address` is nobody's. Or the window is dynamic, and the
  /// member's program has a driver.
  bool on_device() const { return device != 0; }
  auto numbers() { return std::tie(size, disp_unit, device); }
};

/// Which accesses and exposures the program has begun (MPI-4.1 section 12.5). Under `mutex` of its
/// window.
struct Epochs {
  bool fenced = false;                      ///< a fence has begun an epoch
  bool used = false;                        ///< and something was done in it
  std::optional<std::vector<int>> started;  ///< MPI_Win_start's ranks
  std::optional<std::vector<int>> posted;   ///< MPI_Win_post's
  std::set<int> locks;                      ///< by MPI_Win_lock
  bool lock_all = false;
  bool lock_all_unchecked = false;  ///< MPI_MODE_NOCHECK: no lock is needed
  std::set<int> lazy;               ///< ranks that lock_all has had to lock
  std::set<int> unchecked;          ///< of `locks`, those with MPI_MODE_NOCHECK

  bool any_lock() const { return lock_all || !locks.empty(); }
};

/// A get into memory that is not in a row: the data is unpacked when the program synchronizes.
struct PendingGet {
  int rank;
  rma::Ticket ticket;
  Incoming incoming;
};

struct GridWindow {
  MPI_Win native = MPI_WIN_NULL;
  MPI_Comm handle = MPI_COMM_NULL;  ///< of `comm`, which is the window's own
  GridCommRef comm;
  std::vector<Exposed> exposed;  ///< by rank
  /// By rank: memory that this process accesses without the target, by system calls.
  std::vector<std::optional<core::PeerMemory>> peers;
  NearMemory near;                 ///< memory that is mapped here
  std::optional<HostMemory> host;  ///< this process's, of MPI_Win_allocate
  void* base = nullptr;
  int flavour = MPI_WIN_FLAVOR_CREATE;
  bool dynamic() const { return flavour == MPI_WIN_FLAVOR_DYNAMIC; }
  /// MPI_Win_get_attr's value of a predefined attribute; null for others.
  void* attribute(int keyval);
  std::unique_ptr<rma::Window> part;  ///< only while the endpoint is locked

  core::Mutex mutex;
  Epochs epochs GUARDED_BY(mutex);
  /// To be called when they have begun, or are about to end.
  void change_epochs() REQUIRES(mutex) { near.change_epochs(epochs.any_lock()); }
  std::list<PendingGet> gets GUARDED_BY(mutex);
  std::chrono::steady_clock::time_point sent
      GUARDED_BY(mutex){};  ///< when operations were last sent on

  ~GridWindow();

 private:
  MPI_Aint size_ = 0;  // the program gets the address of an attribute
  int disp_unit_ = 1, model_ = MPI_WIN_UNIFIED;
};
using GridWindowRef = std::shared_ptr<GridWindow>;

/// The grid window behind a handle that a call of the program is about; null: the call is the
/// native library's.
GridWindowRef grid_window(MPI_Win handle);
/// The same for a call that ends before the program can free the window.
GridWindow* find_window(MPI_Win handle);
/// Throws MpiError if a target is not a rank of the window.
void check_rank(const GridWindow& window, int rank);
void enter_window(const GridWindowRef& window);
/// Throws MpiError if one of the ranks has failed.
void check_alive(const GridWindow& window, const std::vector<int>& ranks);
/// Takes it out of the table.
void remove_window(MPI_Win handle);

/// As raise and shielded for communicators (whose handles may be of the same type).
int raise_on(MPI_Win window, int code, const char* function);
template <class Body>
int shielded(const GridWindow& window, const char* function, Body&& body) noexcept;

/// Calls `f(part)` under the lock of the part.
template <class F>
auto with_part(GridWindow& window, F&& f);
/// Waits until `done(part)`.
template <class Done>
void wait_for(GridWindow& window, const char* function, Done&& done);
/// Waits until `done(part, i)` for each place in `ranks` of a member that lives; reported as a wait
/// for those ranks.
template <class Done>
void wait_for_each(GridWindow& window, const char* function, const std::vector<int>& ranks,
                   Done&& done);
/// Whether a rank of the window is in another cluster.
bool is_far(const GridWindow& window, int rank);

}  // namespace isthmus::face

#include "core/base/own_order.hpp"
#include "mpi/rma/window_inline.hpp"
