// The state of a communicator in a run that goes on without clusters that have failed.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "core/agreement/revocation.hpp"
#include "core/world/group.hpp"
#include "mpi/process/failed_clusters.hpp"

namespace isthmus::face {

struct GridComm;

/// The progress of this process in a communicator's collectives: one at a time, in order. The
/// revocation closes it, on any thread. So what the others hear is what has happened here.
class Course {
 public:
  /// That collective begins. False: the communicator is revoked.
  bool begin(std::uint64_t number) { return move(2 * number - 1); }
  /// It has ended, well or not. False: the revocation came first.
  bool end(std::uint64_t number, bool well) { return move(2 * number - (well ? 0 : 2)); }
  /// The communicator is revoked.
  core::Come close() {
    const std::uint64_t at = at_.fetch_or(kClosed) & ~kClosed;
    return {.begun = (at + 1) / 2, .ended = at / 2};
  }

 private:
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;
  bool move(std::uint64_t to) {
    std::uint64_t at = at_.load();
    while ((at & kClosed) == 0) {
      if (at_.compare_exchange_weak(at, to)) return true;
    }
    return false;
  }
  std::atomic<std::uint64_t> at_{0};  // twice the last that has ended well; and 1 in the next
};

struct Survival {
  /// A member has called MPIX_Comm_revoke, and this process has heard so.
  std::atomic<bool> revoked{false};
  Course course;
  /// The end of the collective that was under way then.
  std::atomic<core::Revocation::Verdict> verdict{core::Revocation::Verdict::Open};
  /// The failures that the program has acknowledged: the first of FailedClusters::first.
  std::atomic<std::uint32_t> acknowledged{0};
  /// Calls of all members after whose exchange a native call follows (making/local_vote.hpp).
  std::atomic<std::uint32_t> votes{0};
  /// Members here whose last native message on the revoked communicator has come
  /// (making/parting.hpp).
  std::atomic<int> parted{0};
  /// No thread looks for messages to throw away any more (p2p/drain.hpp). Set under the progress
  /// lock.
  std::atomic<bool> drained{false};
};

inline constexpr const char* kRevoked = "the communicator has been revoked";

/// Clusters of this run may fail, and it goes on without them.
inline bool may_lose() { return FailedClusters::possible(); }

/// Called with each grid communicator that has entered the table, if not null: it may have been
/// revoked before it was made here. The thread that makes it calls.
inline std::atomic<void (*)(const GridComm&)> on_entered{nullptr};

/// The error of an operation.
struct Loss {
  int error_class;      ///< one of survival_errors.hpp
  std::string because;  ///< a sentence
};

// All are cheap, and return nothing, while no cluster has failed and nothing is revoked.

/// The loss of an operation that needs the member of that rank (remote, in an intercommunicator).
std::optional<Loss> loss_of(const GridComm& comm, int rank);
/// The loss of one that needs all members, of both sides: a collective.
std::optional<Loss> loss_of_all(const GridComm& comm);
/// The loss of a receive or probe from any source, of class proc_failed_pending(): a member has
/// failed that is not acknowledged.
std::optional<Loss> loss_of_any(const GridComm& comm);
/// The loss of one that needs the members of a group, even if the communicator is revoked.
std::optional<Loss> loss_among(const core::Group& group);
/// The loss of an operation which the engine has ended, since the process has failed.
Loss loss_of_process(int node);

/// The communicator is revoked, and its other side's part with it. Returns how far this process has
/// come in its collectives. Calls no MPI: any thread.
core::Come revoke_here(const GridComm& comm);

}  // namespace isthmus::face
