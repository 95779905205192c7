// Agreements of the living members of a grid communicator, and its revocation (core/agreement),
// over a service of the engine. It needs no other message of the communicator, so it works on one
// that is revoked. Members of the own cluster get the same messages.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "core/agreement/agreements.hpp"
#include "core/agreement/revocation.hpp"
#include "core/world/group.hpp"
#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Begins to listen: when the grid is joined, and has its communicator.
void hear_of_survivors();

/// This member's part, for one communicator, or for both sides of an intercommunicator. Any thread
/// may call; the calls take the engine's lock. It outlives its communicator, since others may still
/// ask for the last decision.
class Survivors {
 public:
  /// The one of `comm`, made when first needed.
  static std::shared_ptr<Survivors> of(const GridComm& comm);
  /// The one of a group, in which this process has rank `me`. No communicator has `context`.
  static std::shared_ptr<Survivors> of(std::uint64_t context, int me, const core::Group& group);

  using Ticket = std::uint64_t;
  /// Takes part in the next agreement, when those before have been decided. All living members do
  /// so in the same order. `acknowledged`: as Survival::acknowledged. `offer`: for Decision::word.
  Ticket begin(std::uint64_t flags, std::uint32_t acknowledged, std::uint64_t offer);
  /// Its decision, once; empty while there is none. Called until then, since failures are noticed
  /// here.
  std::optional<core::Decision> decision(Ticket ticket);

  /// Revokes the communicator for all members.
  void revoke();
  /// That member knows that the communicator is revoked, and has told this one so.
  bool has_revoked(int rank) const;

  Survivors(std::uint64_t context, int me, const core::Group& group);

 private:
  friend class SurvivorsService;
  struct Wanted {
    std::uint64_t flags;
    core::RankSet acknowledged;
    std::uint64_t offer;
  };

  bool is(int rank, core::NodeId node) const;
  void notice_failures(core::AgreementMessages& out);
  void go_on(core::AgreementMessages& out);

  const std::uint64_t context_;
  const int me_;
  const core::Group group_;
  // Under the service's mutex:
  core::Agreements agreements_;
  core::Revocation revocation_;
  core::RankSet have_revoked_;  // the other members that have told this one
  std::uint32_t noticed_ = 0;   // failures: the first of FailedClusters
  std::deque<Wanted> waiting_;
  Ticket given_ = 0, begun_ = 0;
  bool under_way_ = false;
  std::map<Ticket, core::Decision> decided_;
  std::uint64_t made_ = 0;  // in the order of all
};

}  // namespace isthmus::face
