// A vector cut into intervals that ranks hold, and its way from one such cut to another.
#pragma once

#include <vector>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// The interval first..last-1 of a vector, in bytes, at a rank. Every rank that takes part has
/// memory for the whole vector; an interval always lies at its own place in it.
struct Share {
  int rank = 0;
  std::size_t first = 0, last = 0;
  std::size_t size() const { return last - first; }
};

/// Boundaries of `parts` nearly equal parts of `bytes`, at multiples of `unit`: parts + 1 of them.
std::vector<std::size_t> even_cut(std::size_t bytes, std::size_t parts, std::size_t unit);

/// Part i for ranks[i].
std::vector<Share> even_shares(std::span<const int> ranks, std::size_t bytes, std::size_t unit);

/// Moves the vector from the holders in `from` to those in `to`, straight between the ranks: every
/// overlap is one message. Bytes that a rank already holds stay. Both cover the whole vector once;
/// ranks in neither do nothing.
Task redistribute(Party& party, Bytes vector, std::vector<Share> from, std::vector<Share> to,
                  int tag);

}  // namespace isthmus::coll
