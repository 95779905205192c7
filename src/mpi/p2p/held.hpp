// Receives that the native library must not have yet. A message for a wildcard on a grid
// communicator may come from this cluster (natively) or from another one (through the engine). The
// wildcard is posted in the engine and held here, where it is offered every matching native
// message. Later receives from this cluster that could match the same messages queue behind it.
// Posting order decides.
//
// All functions are called under the progress lock.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/engine/engine.hpp"
#include "mpi/native/native.hpp"
#include "mpi/native/wildcards.hpp"
#include "mpi/p2p/held_index.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {

struct GridComm;

/// A receive on hold. Its owner keeps it in place until it has left its HeldReceives.
class HeldReceive : public HeldEntry {
 public:
  enum class Kind {
    Wildcard,  ///< any source: also posted in the engine, as `op`
    Local,     ///< a named source in this cluster, queued
    Start,     ///< an MPI_Start of a native persistent receive, put off
  };
  /// `source_` is a rank in the communicator or MPI_ANY_SOURCE, `tag_` may be MPI_ANY_TAG.
  HeldReceive(Kind kind_, int source_, int tag_)
      : HeldEntry({engine_source(source_), engine_tag(tag_)}), kind(kind_) {}
  virtual ~HeldReceive() = default;

  const Kind kind;
  struct Posted : core::RecvOp {
    HeldReceive* receive = nullptr;
  } op;
  core::Links<HeldReceive> starts;  ///< of those of Kind::Start

  /// It has a native message, and has left. `status` has the rank in the communicator.
  virtual void take(MPI_Message message, const MPI_Status& status) = 0;
  /// Start only: nothing before it could match its messages any more; it has left.
  virtual void start() {}
  /// Wildcards only: the engine has matched it, and will complete `op`; it has left.
  virtual void taken_by_engine() {}
};

class HeldReceives final : public Served {
 public:
  explicit HeldReceives(GridComm& comm) : comm_(comm) {}
  ~HeldReceives();
  HeldReceives(const HeldReceives&) = delete;
  HeldReceives& operator=(const HeldReceives&) = delete;

  bool empty() const override { return size_.load(std::memory_order_relaxed) == 0; }
  /// True when something held could match a message that (source, tag) could match, too. `source`
  /// is a rank of this cluster, `tag` may be MPI_ANY_TAG.
  bool overlaps(int source, int tag) const { return index_.overlaps({source, engine_tag(tag)}); }

  /// Puts `receive` last; a wildcard is posted in the engine by this. pump() serves from now on. A
  /// wildcard that a probe has found a native message for takes that, and is not held.
  void add(HeldReceive& receive) REQUIRES(progress_mutex);
  /// Takes `receive` out (for MPI_Cancel). False when it has matched, or is not here.
  bool remove(HeldReceive& receive);
  /// Offers the native messages that have arrived to the held receives, in posting order.
  void serve() override;

 private:
  static HeldReceive& receive_of(HeldEntry& entry) { return static_cast<HeldReceive&>(entry); }
  HeldReceive* first_for(const MPI_Status& status) const;
  bool look(Pattern pattern, MPI_Status& status) const;
  bool serve_message(MPI_Status status);
  bool offer(HeldReceive& receive, const MPI_Status& status);
  bool take_probed(HeldReceive& receive);
  void give(HeldReceive& receive, MPI_Message message, MPI_Status status);
  void erase(HeldReceive& receive);
  void forget_matched();
  void start_unhindered();

  GridComm& comm_;
  HeldIndex index_;
  core::MatchedReceives matched_;  // wildcards that the engine has matched
  core::IntrusiveList<HeldReceive, &HeldReceive::starts> starts_;
  std::atomic<std::size_t> size_{0};
};

/// The held receives of `comm`, made when first needed.
HeldReceives& held_receives(GridComm& comm);

}  // namespace isthmus::face
