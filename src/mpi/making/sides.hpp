// Makes an intercommunicator of two sides. The leaders exchange their groups and pass them on to
// their members. Then every member knows both sides, and the rest is the same wherever they lie.
// The caller provides the messages between the leaders.
#pragma once

#include <cstdint>
#include <exception>
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
  /// For the leader: sends the other leader `words`, and returns the words that come back. Empty:
  /// they could not reach each other, and an error has been raised. May throw MpiError.
  std::function<std::optional<Words>(const Words& words)> exchange;
  SessionRef session = {};  ///< of `comm`, on all its members or on none
};

struct Meeting {
  Sides sides;
  std::uint64_t context;  ///< the same on all members of both
  bool of_sessions;       ///< both sides come from one
  /// In a run whose clusters may fail: both sides go on, but a member of this cluster does not.
  std::exception_ptr undone;
};

/// Sends the leader's words to all members of the side. Collective. If `words` throws MpiError
/// on the leader, all throw one of that class and sentence.
Words tell(const Side& side, const std::function<Words()>& words);

/// Both groups, and a context. Collective over both sides. Throws MpiError.
Meeting meet_remote(const Side& side);

/// The intercommunicator of sides that have met; all members learn the outcome. Returns an MPI
/// error code (raised) or throws MpiError.
int join_sides(const Side& side, const Meeting& meeting, MPI_Comm* newintercomm);

}  // namespace isthmus::face
