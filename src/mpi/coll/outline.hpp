// A description of a collective that a member has begun. A member whose arguments were wrong needs
// it to take part (taking_part.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "coll/engine/collectives.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::face {

class FaceReduction;

/// Ranks are those of all members; of an intercommunicator, of both sides (inter.hpp).
struct Outline {
  enum class Kind : std::uint8_t {
    Barrier,
    Bcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatter,
    Scan,
    Exscan,
    Neighbors,
  };
  /// A message of the collective, seen from one of its ends.
  struct Edge {
    int rank;  ///< at the other end
    std::size_t bytes;
    bool operator==(const Edge&) const = default;
  };
  /// What is reduced.
  struct Element {
    std::uint32_t bytes = 0;  ///< packed; 0: there is no reduction
    bool predefined = false;  ///< the operation and the datatype
    bool commutes = false;
    bool operator==(const Element&) const = default;
  };

  Kind kind = Kind::Barrier;
  bool even = false;        ///< all blocks are of `count`
  int root = -1;            ///< -1: there is none, or this member does not know it
  std::uint64_t count = 0;  ///< in elements for reductions, else in bytes
  Element element{};
  coll::Sizes sizes{};            ///< by rank, where all members know all: as `count`
  std::vector<Edge> out{}, in{};  ///< else: what this member sends and receives

  /// Between two sides: whose data this member gets, where it gets all members' of the other side.
  int first_giver = 0, end_of_givers = std::numeric_limits<int>::max();

  bool operator==(const Outline&) const = default;

  /// Messages of these sizes, by rank from `first` on.
  static std::vector<Edge> edges(const coll::Sizes& sizes, int first = 0);
  /// Has `sizes`, or `even` where they are equal.
  void set_sizes(const coll::Sizes& all);
};

Outline::Element element_of(const FaceReduction& reduction);

/// Whether the result of `me` depends on what `other` gives.
bool depends_on(const Outline& mine, int me, int other);

/// Writes and reads what concerns `reader`: only edges to and from it.
void write_outline(core::Writer& out, const Outline& outline, int reader);
/// Throws std::bad_alloc for a length that memory cannot hold; else the reader says what is wrong.
Outline read_outline(core::Reader& in);

}  // namespace isthmus::face
