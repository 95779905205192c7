// All that a collective algorithm knows of the outside: its place, the clusters, the collectives of
// its own cluster's native MPI, and messages to any rank. It is small on purpose, since it has
// several implementations: the face's (native MPI + net::Endpoint), an in-memory one for exhaustive
// tests, a simulated one (bench/sim), and one over a subset of ranks (coll/inter/subset.hpp).
//
// Data moves as packed bytes; only reductions know elements. "Local index" is a member's place in
// its cluster's list of members. All members of a cluster start the operations of one collective in
// the same order, and at most one collective per communicator runs at a time (the face queues
// them). So local operations need no tags.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coll/engine/mpi_error.hpp"
#include "coll/engine/task.hpp"

namespace isthmus::coll {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// The clusters of a communicator's ranks. The same on all ranks.
class Layout {
 public:
  /// `cluster_of_rank[r]` is an opaque cluster number for rank r; clusters are indexed here by
  /// first appearance.
  explicit Layout(std::span<const int> cluster_of_rank);

  int size() const { return static_cast<int>(cluster_.size()); }
  int clusters() const { return static_cast<int>(members_.size()); }
  int cluster_of(int rank) const { return cluster_[static_cast<std::size_t>(rank)]; }
  /// Place of `rank` in its cluster's list.
  int index_of(int rank) const { return index_[static_cast<std::size_t>(rank)]; }
  /// Ranks of a cluster, ascending.
  std::span<const int> members(int cluster) const {
    return members_[static_cast<std::size_t>(cluster)];
  }
  /// The number that it was made with.
  int number_of(int cluster) const { return numbers_[static_cast<std::size_t>(cluster)]; }
  /// The rank that speaks for a cluster: its lowest.
  int leader(int cluster) const { return members(cluster).front(); }
  /// True when every cluster's ranks are one contiguous block; then cluster order is rank order.
  bool blocks() const { return blocks_; }

 private:
  std::vector<int> cluster_, index_, numbers_;
  std::vector<std::vector<int>> members_;
  bool blocks_ = true;
};

/// The elements and the operation of a reduction. Algorithms hold elements packed; an
/// implementation whose datatype has gaps unpacks and packs inside.
class Reduction {
 public:
  virtual ~Reduction() = default;
  virtual bool commutative() const = 0;
  /// Packed bytes of `count` elements (what crosses between clusters); linear in `count`.
  virtual std::size_t packed_size(std::size_t count) const = 0;
  /// inout[i] = in[i] op inout[i], both packed (MPI_Reduce_local's order: `in` comes first in
  /// rank order).
  virtual void combine(ConstBytes in, Bytes inout, std::size_t count) = 0;
};

struct Choice;        // choose.hpp
struct Forced;        // forced.hpp
struct Network;       // network.hpp
struct Problem;       // algorithm.hpp
class Commons;        // commons.hpp
class RecentChoices;  // recent_choices.hpp

class Party {
 public:
  virtual ~Party() = default;

  virtual int rank() const = 0;
  virtual const Layout& layout() const = 0;

  // ---- what the choice of an algorithm depends on; the same on all ranks ------------------
  virtual const Network& network() const;         ///< default: that of an unmeasured grid
  virtual const Forced& forced() const;           ///< requested algorithms; default: empty
  virtual Commons* commons() { return nullptr; }  ///< null on all ranks, or on none
  /// Reductions have one order over ranks, whatever the layout.
  virtual bool reproducible() const { return false; }
  /// The store of choices, so that each is made once; null: choices are not kept.
  virtual RecentChoices* recent() { return nullptr; }
  /// Called for every choice.
  virtual void chosen(const Problem& problem, const Choice& choice);

  /// Whether a thread of this process waits in MPI now, and so steps the task as soon as something
  /// happens. Otherwise the program computes and looks in between, at unknown times: all that
  /// should be under way until the next look must begin at this one.
  virtual bool attended() const { return true; }

  // ---- messages to any rank of the communicator, own cluster's too -------------------------
  // Between a pair of ranks, messages with one tag arrive in order. The memory must stay until
  // the operation is done. A receive's size must equal its message's. Tags are those of
  // coll/engine/phases.hpp.
  virtual Pending send(int rank, int tag, ConstBytes data) = 0;
  virtual Pending recv(int rank, int tag, Bytes data) = 0;
  /// As send, to a member of the own cluster; not done before the message is being received (MPI's
  /// synchronous mode). A native library reports other sends as done when they are copied, even
  /// with a long queue on the member's link. These can be counted to keep that queue short.
  virtual Pending send_synchronous(int rank, int tag, ConstBytes data) = 0;

  // ---- the native collectives of this process's cluster; roots are local indices ------------
  virtual Pending local_barrier() = 0;
  virtual Pending local_bcast(Bytes data, int root) = 0;
  /// `sizes` (by local index) and `all` (concatenated in that order) matter at the root only.
  virtual Pending local_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes,
                               int root) = 0;
  virtual Pending local_scatter(ConstBytes all, std::span<const std::size_t> sizes, Bytes mine,
                                int root) = 0;
  /// Every member gives sizes.
  virtual Pending local_allgather(ConstBytes mine, Bytes all,
                                  std::span<const std::size_t> sizes) = 0;
  /// Block i of `out` (sizes out_sizes, concatenated) goes to local index i, and so on.
  virtual Pending local_alltoall(ConstBytes out, std::span<const std::size_t> out_sizes, Bytes in,
                                 std::span<const std::size_t> in_sizes) = 0;
  /// Packed elements; `out` matters at the root only; in rank order.
  virtual Pending local_reduce(ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                               int root) = 0;
  /// Inclusive prefix in local (so rank) order.
  virtual Pending local_scan(ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) = 0;
};

}  // namespace isthmus::coll
