#include "mpi/making/sides.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "coll/engine/party.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/making/intercomm.hpp"
#include "mpi/making/local_vote.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/p2p/watched.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/outcome.hpp"
#include "mpi/process/runs.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {
namespace {

/// Error classes in an order that all libraries share: their numbers differ.
constexpr std::array kClasses{MPI_ERR_OTHER,   MPI_ERR_COMM,  MPI_ERR_PORT, MPI_ERR_NAME,
                              MPI_ERR_SERVICE, MPI_ERR_SPAWN, MPI_ERR_INFO, MPI_ERR_ARG};

// The libraries' own classes are not constants, so these have numbers behind the others.
constexpr std::int32_t kProcFailed = kClasses.size(), kRevokedClass = kProcFailed + 1;

std::int32_t number_of(int error_class) {
  if (may_lose() && error_class == proc_failed()) return kProcFailed;
  if (may_lose() && error_class == revoked()) return kRevokedClass;
  const auto* const found = std::find(kClasses.begin(), kClasses.end(), error_class);
  return found == kClasses.end() ? 0 : static_cast<std::int32_t>(found - kClasses.begin());
}

int class_of_number(std::int32_t number) {
  if (number == kProcFailed) return proc_failed();
  if (number == kRevokedClass) return revoked();
  return kClasses[std::min(static_cast<std::size_t>(number), kClasses.size() - 1)];
}

/// `code` is of a collective of the side.
void require_side(const Side& side, int code) {
  if (code == MPI_SUCCESS) return;
  const GridCommRef comm = is_loss(code) ? share_comm(side.comm) : nullptr;
  if (const auto loss = comm ? loss_of_all(*comm) : std::nullopt) {
    throw MpiError(loss->error_class, loss->because);
  }
  throw MpiError(MPI_ERR_OTHER, "the local communicator failed");
}

void spread(const Side& side, std::span<std::int32_t> words) {
  const Withheld errors;
  require_side(side, isthmus_Bcast(words.data(), static_cast<int>(words.size()), MPI_INT32_T,
                                   side.leader, side.comm));
}

Words heard(const Side& side, const Words& mine) {
  auto theirs = side.exchange(mine);
  if (!theirs) {
    throw MpiError(MPI_ERR_COMM, "the leaders could not reach each other on the peer communicator");
  }
  return *std::move(theirs);
}

constexpr std::int32_t kLost = -1;  // a side's word: it has lost a member, or is revoked

/// Whether all members of both sides have succeeded. Throws MpiError if a side has lost a member.
bool both_succeeded(const Side& side, bool mine) {
  const std::int32_t own = mine ? 1 : 0;
  std::int32_t all = own;
  {
    const Withheld errors;
    if (isthmus_Allreduce(&own, &all, 1, MPI_INT32_T, MPI_MIN, side.comm) != MPI_SUCCESS) {
      all = may_lose() ? kLost : 0;
    }
  }
  const Words theirs = tell(side, [&] { return heard(side, {all}); });
  if (all == kLost || theirs.front() == kLost) {
    throw MpiError(proc_failed(), "a member of one side has failed, or has given up the call");
  }
  return all != 0 && theirs.front() != 0;
}

/// Throws on all members, or on those that hear of a failure, unless all that live have succeeded.
/// The leaders exchange words in any case, as long as they live.
void confirm(const Side& side, bool mine) {
  if (!both_succeeded(side, mine)) {
    throw MpiError(proc_failed(), "a member of one side has given up the call");
  }
}

/// As confirm() of a member that has an error already, which counts.
void deny(const Side& side) {
  try {
    both_succeeded(side, false);
  } catch (const MpiError& later) {
    static_cast<void>(later);
  }
}

}  // namespace

Words tell(const Side& side, const std::function<Words()>& words) {
  Words told;
  std::array<std::int32_t, 2> head{-1, 0};  // the failure, and how many words follow
  if (side.leading) {
    try {
      told = words();
    } catch (const MpiError& failure) {
      const std::string sentence = failure.what();
      head[0] = number_of(failure.code);
      told.assign(sentence.begin(), sentence.end());
    }
    head[1] = static_cast<std::int32_t>(told.size());
  }
  spread(side, head);
  told.resize(static_cast<std::size_t>(head[1]));
  spread(side, told);
  if (head[0] < 0) return told;
  throw MpiError(class_of_number(head[0]), std::string(told.begin(), told.end()));
}

// A leader's first two words are its offer of the context, one shows whether its side comes from a
// session, the others are its group. The context of the first side is taken.
//
// Members may fail meanwhile. If the leaders have met, each tells the other if all members of its
// side have the words. If both say so, all members that live know each other. Only then they go on
// together; those of a cluster vote first, as native calls follow.
Meeting meet_remote(const Side& side) {
  constexpr std::size_t kHead = 3;
  core::Group local = group_of_comm(side.comm);
  bool met = false;  // and both sides are of this run, which may lose clusters
  Words told;
  try {
    told = tell(side, [&] {
      const std::uint64_t offer = random_context();
      Words mine{static_cast<std::int32_t>(offer >> 32), static_cast<std::int32_t>(offer),
                 side.session ? 1 : 0};
      const Words group = group_to_words(local);
      mine.insert(mine.end(), group.begin(), group.end());
      Words theirs = heard(side, mine);
      if (theirs.size() < 4) throw MpiError(MPI_ERR_OTHER, "the other side says too little");
      const core::Group remote = group_from_words(std::span(theirs).subspan(kHead));
      met = may_lose_some(local) && may_lose_some(remote);
      if (remote.size() > 0 && precedes(local.node(0), remote.node(0))) {
        theirs[0] = mine[0];
        theirs[1] = mine[1];
      }
      theirs[2] &= mine[2];
      return theirs;
    });
  } catch (const MpiError&) {
    if (met) deny(side);
    throw;
  }
  Meeting meeting{{std::move(local), group_from_words(std::span(told).subspan(kHead))},
                  static_cast<std::uint64_t>(static_cast<std::uint32_t>(told[0])) << 32 |
                      static_cast<std::uint32_t>(told[1]),
                  told[2] != 0,
                  nullptr};
  const bool apart = meeting.sides.local.intersect(meeting.sides.remote).size() == 0;
  if (!apart) throw MpiError(MPI_ERR_COMM, "the two sides have members in common");
  if (!may_lose_some(meeting.sides.whole())) return meeting;
  bool confirmed = false;
  try {
    before_native(meeting.sides.whole(), meeting.context, [&] {
      confirm(side, true);
      confirmed = true;
    });
  } catch (const MpiError&) {
    if (!confirmed) throw;
    meeting.undone = std::current_exception();
  }
  return meeting;
}

int join_sides(const Side& side, const Meeting& meeting, MPI_Comm* newintercomm) {
  const core::Group whole = meeting.sides.whole();
  const auto make = [&](MPI_Comm* made) {
    if (meeting.undone) std::rethrow_exception(meeting.undone);
    MPI_Comm part = MPI_COMM_NULL;
    const SessionRef of_both = meeting.of_sessions ? side.session : nullptr;
    const int code = native_part_of(whole, meeting.context, side.comm, of_both, &part);
    if (code != MPI_SUCCESS) return code;
    return finish_intercomm(meeting.sides, meeting.context, part, side.session, made);
  };
  const auto agree = [&](bool mine) {
    return sealed(whole, meeting.context, [&] { return both_succeeded(side, mine); });
  };
  return make_together(make, agree, newintercomm);
}

}  // namespace isthmus::face
