// Two sides become an intercommunicator: the leaders tell each other their groups, and then their
// members; from there on everybody knows both sides, and what follows is the same wherever they
// lie. How the leaders speak with each other is the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "mpi/comm/inter.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

using Words = std::vector<std::int32_t>;

/// A side, as one of its members sees it.
struct Side {
  MPI_Comm comm;  ///< an intracommunicator
  int leader;     ///< its rank there
  bool leading;   ///< this process is the leader
  /// The leader's: tells the other leader `words`, and returns what that tells at the same time.
  /// Nothing: they could not reach each other, and an error has been raised. May throw
  /// coll::Failure.
  std::function<std::optional<Words>(const Words& words)> exchange;
  SessionRef session = {};  ///< that `comm` comes from, on all its members or on none
};

struct Meeting {
  Sides sides;
  std::uint64_t context;  ///< the same on all members of both
  bool of_sessions;       ///< both sides come from one
};

/// What the leader knows, for all members of the side. Collective. Where `words` throws
/// coll::Failure on the leader, all throw one of that class and sentence.
Words tell(const Side& side, const std::function<Words()>& words);

/// Both groups, and a context. Collective over both sides. Throws coll::Failure.
Meeting meet_remote(const Side& side);

/// The intercommunicator of those who have met; all members learn the outcome. Returns an MPI error
/// code (raised) or throws coll::Failure.
int join_sides(const Side& side, const Meeting& meeting, MPI_Comm* newintercomm);

}  // namespace isthmus::face
