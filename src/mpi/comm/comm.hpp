// A communicator that spans clusters. Its handle is the genuine native communicator of its
// members in this cluster, so attributes, names, error handlers, info and f2c/c2f are native. A
// communicator within one cluster is native and not in the table. Only one of this process alone is
// there once it is revoked (own_comm.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coll/engine/forced.hpp"
#include "coll/engine/party.hpp"
#include "core/base/ids.hpp"
#include "core/world/group.hpp"
#include "mpi/comm/probed.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/comm/topology.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/tag_range.hpp"

namespace isthmus::face {

class HeldReceives;     // held.hpp: wildcards and receives queued behind them
class CollectiveQueue;  // collective.hpp: one collective at a time, in order
struct Inter;           // inter.hpp: the further state of an intercommunicator
struct TwinTags;        // twins.hpp: the tags of a twin, while its members agree on them

/// In an intercommunicator, `group`, `size` and `members` are those of the remote side, since
/// senders and receivers mean those ranks; `rank` is mine in my own side.
struct GridComm : std::enable_shared_from_this<GridComm> {
  /// Matching contexts of the engine: user's point-to-point, and Isthmus's own (collectives).
  std::uint64_t context = 0;  ///< even
  std::uint64_t collective_context() const { return context + 1; }

  core::Group group;  ///< rank -> world rank
  int rank = 0;       ///< mine
  int size = 0;
  MPI_Comm native = MPI_COMM_NULL;  ///< the handle: my cluster's members, in rank order
  /// For messages of Isthmus's own between members here; its collectives go by the handle.
  TagRange tags;
  int native_rank = 0;
  /// Native rank -> rank; ascending. An intercommunicator's handle has the members of both sides.
  /// The entries of my own side are then outside of all ranks, and of MPI_ANY_SOURCE and its like.
  std::vector<int> members;
  /// The number of members if they are first_member + i, so that translation is an addition; else
  /// 0.
  unsigned contiguous = 0;
  int first_member = 0;
  mutable Probed probed;          ///< by the last probe for any source
  bool mixes_formats = false;     ///< members are in clusters whose processors differ
  std::vector<std::string> runs;  ///< the other runs that members are of
  bool within_part = false;       ///< all members are of my MPI_COMM_WORLD
  coll::Layout layout;
  coll::Forced forced;                     ///< requested algorithms of collectives
  core::LinkChoice link = core::kAnyLink;  ///< the link of its messages
  bool reorders = false;                   ///< topologies made of it may move ranks
  bool reproducible = false;               ///< reductions have one order over ranks
  TopologyRef topology;
  SessionRef session;  ///< that it comes from; else null
  // For this communicator alone. Shared pointers, since those can destroy types unknown here.
  std::shared_ptr<HeldReceives> held;
  std::shared_ptr<CollectiveQueue> collectives;
  std::shared_ptr<Inter> inter;         ///< of an intercommunicator; else null
  bool twin = false;                    ///< of a native communicator (twins.hpp)
  std::shared_ptr<TwinTags> twin_tags;  ///< null when the twin has its tags
  std::uint64_t duplications = 0;       ///< that were MPI_Comm_idup's
  /// Collectives of this process, in the order in which they begin: the same on all members.
  std::atomic<std::uint64_t> begun{0}, ended{0};
  /// The member whose post a collective waits for here (coll::Commons), or -1.
  std::atomic<int> awaited{-1};

  /// Users of the handle (HandleUse): MPI_Comm_free takes effect when none is left.
  std::atomic<int> uses{0};
  /// The program has freed the handle: `native` may be another communicator's by now. Operations
  /// still under way raise their errors by `last_handler`, the communicator's handler at that time.
  /// It is written before `freed`.
  std::atomic<bool> freed{false};
  /// All members are in MPI_Comm_disconnect: other runs that end now are not needed any more.
  std::atomic<bool> disconnecting{false};
  MPI_Errhandler last_handler = MPI_ERRHANDLER_NULL;
  mutable Survival survival;  ///< atomics: others mark a communicator that they only look at

  GridComm(core::Group group_, std::uint64_t context_, MPI_Comm native_);
  /// An intercommunicator.
  GridComm(std::unique_ptr<Inter> inter_, core::Group remote);
  ~GridComm();

  /// Native rank of a member of my cluster, or -1 when `r` is in another cluster.
  int native_rank_of(int r) const {
    const auto i = static_cast<unsigned>(r) - static_cast<unsigned>(first_member);
    if (i < contiguous) return static_cast<int>(i);
    return contiguous > 0 ? -1 : search_native_rank(r);
  }
  /// Rank on the shadow of a member of my cluster.
  int shadow_rank_of(int r) const;
  /// Messages that begin from now on go by this link, its own and those of its collectives.
  void choose_link(core::LinkChoice choice);
  /// Whether other members are in my cluster.
  bool has_company() const { return members.size() > 1; }
  int rank_of_native(int n) const { return members[static_cast<std::size_t>(n)]; }

 private:
  int search_native_rank(int r) const;
};

using GridCommRef = std::shared_ptr<GridComm>;

/// Keeps a grid communicator and its handle while something may still be begun with them, or is
/// under way. May be null.
class HandleUse {
 public:
  explicit HandleUse(GridCommRef comm) : comm_(std::move(comm)) { count(1); }
  HandleUse(const HandleUse& other) : HandleUse(other.comm_) {}
  HandleUse(HandleUse&& other) noexcept = default;
  HandleUse& operator=(HandleUse other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  ~HandleUse() { count(-1); }
  GridComm& operator*() const { return *comm_; }
  GridComm* operator->() const { return comm_.get(); }
  const GridCommRef& comm() const { return comm_; }

 private:
  void count(int change) {
    if (comm_) comm_->uses.fetch_add(change, std::memory_order_acq_rel);
  }
  GridCommRef comm_;
};

/// The one of MPI_COMM_WORLD; null without a grid. For blocking calls inside a cluster, where every
/// nanosecond counts: one load shows whether Isthmus has anything to do.
extern std::atomic<GridComm*> world_comm;

/// Calls `use` with the grid communicator of that context, if it has a handle. Calls no MPI; the
/// communicator is not freed meanwhile.
void find_context(std::uint64_t context, const std::function<void(const GridComm&)>& use);
/// As find_context, by the handle: for threads that do not know whether the program still has it.
void find_handle(MPI_Comm handle, const std::function<void(const GridComm&)>& use);

/// The grid communicator behind a handle; null for native ones (and for null or invalid ones,
/// which the native library judges). Lock-free, a few ns: the fast path of every call.
GridComm* find_comm(MPI_Comm handle);
/// As find_comm, sharing ownership: requests and queued work outlive MPI_Comm_free.
GridCommRef share_comm(MPI_Comm handle);

/// Another run has ended. Whether a grid communicator with a handle still has members of it, and
/// is not being disconnected. As find_context.
bool note_end_of(const std::string& run);
/// Whether that has been noted.
bool has_ended(const std::string& run);

/// The communicators with a handle that are revoked.
std::vector<std::shared_ptr<GridComm>> revoked_comms();

/// Waits until this process knows all members of the group.
void await_world(const core::Group& group);

/// A grid communicator over `handle` that is not in the table; otherwise as register_comm.
GridCommRef make_comm(core::Group group, std::uint64_t context, MPI_Comm handle, TagRange tags);
/// Has the handle of `comm` lead to it.
void enter_comm(const GridCommRef& comm);

/// Makes `handle` (the native communicator of my cluster's members of `group`, in rank order) that
/// of a grid communicator. Local; finish_comm (making/making.hpp) does all that is collective.
GridCommRef register_comm(core::Group group, std::uint64_t context, MPI_Comm handle, TagRange tags);
/// Takes the handle out of the table (MPI_Comm_free); the rest goes when its last user does.
void unregister_comm(MPI_Comm handle);

/// A context id that no communicator of this process's making has had: high half the world rank,
/// low half a counter; even. At random once there are guests.
std::uint64_t fresh_context();
/// A context that no communicator of any run has had.
std::uint64_t random_context();

}  // namespace isthmus::face
