// Receives that the native library must not have yet. A message for a wildcard on a grid
// communicator may come from this cluster (natively) or from another one (through the engine). The
// wildcard is posted in the engine and held here, where it is offered every native message that
// fits; later receives from this cluster that could match the same messages queue behind it.
// Posting order decides.
//
// All functions are called under the progress lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/engine.hpp"
#include "mpi/native.hpp"

namespace isthmus::face {

struct GridComm;

/// A receive on hold. Whoever owns it keeps it in place until it has left its HeldReceives.
class HeldReceive {
 public:
  enum class Kind {
    Wildcard,  ///< any source: also posted in the engine, as `op`
    Local,     ///< a named source in this cluster, queued
    Start,     ///< an MPI_Start of a native persistent receive, put off
  };
  HeldReceive(Kind kind_, int source_, int tag_) : kind(kind_), source(source_), tag(tag_) {}
  virtual ~HeldReceive() = default;

  const Kind kind;
  const int source;  ///< rank in the communicator or MPI_ANY_SOURCE
  const int tag;     ///< or MPI_ANY_TAG
  core::RecvOp op;

  /// It has a native message, and has left. `status` has the rank in the communicator.
  virtual void take(MPI_Message message, const MPI_Status& status) = 0;
  /// Start only: nothing before it could match its messages any more; it has left.
  virtual void start() {}
  /// Wildcards only: the engine has matched it; it has left.
  virtual void taken_by_engine() {}
};

class HeldReceives {
 public:
  HeldReceives() = default;
  ~HeldReceives();
  HeldReceives(const HeldReceives&) = delete;
  HeldReceives& operator=(const HeldReceives&) = delete;

  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }
  /// True when something held could match a message that (source, tag) could match, too.
  bool overlaps(int source, int tag) const { return first_overlap(source, tag) < items_.size(); }

  /// Puts `receive` last; a wildcard is posted in the engine by this.
  void add(GridComm& comm, HeldReceive& receive);
  /// Takes `receive` out (for MPI_Cancel). False when it has matched, or is not here.
  bool remove(HeldReceive& receive);
  /// Offers the native messages that have arrived to what is held, in posting order.
  void serve(GridComm& comm);

 private:
  std::size_t first_overlap(int source, int tag) const;
  void erase(std::size_t index);
  /// True when `items_[index]` got the native message that `status` tells of (or the engine had
  /// already served it), so that it has left.
  bool offer(GridComm& comm, std::size_t index, const MPI_Status& status);
  void start_unhindered();

  std::vector<HeldReceive*> items_;  // in posting order
  std::atomic<std::size_t> size_{0};
};

/// The held receives of `comm`, made when first needed.
HeldReceives& held_receives(GridComm& comm);

}  // namespace isthmus::face
