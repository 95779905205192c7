// The part in a collective of a member whose arguments were wrong, as the others' outlines have it.
// It gives zeros, and throws away what it gets.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "coll/inter/inter.hpp"
#include "mpi/coll/outline.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/reduction.hpp"

namespace isthmus::face {

class TakingPart {
 public:
  /// `outlines` by rank of all members; at least one is there. Throws MpiError.
  TakingPart(const GridComm& comm, const std::vector<std::optional<Outline>>& outlines);
  /// The task uses this.
  coll::Task start(coll::Party& party);

 private:
  coll::Task start_among_one_side(coll::Party& party);
  coll::Task start_between_sides(coll::Party& party);
  coll::Task start_neighbors(coll::Party& party);
  /// Memory that lasts as long as this does.
  coll::Bytes memory(std::size_t bytes);
  coll::Sizes all_sizes(int first, int ranks) const;
  static coll::Sizes by_rank(const std::vector<Outline::Edge>& edges, int first, int ranks);
  bool knows_sizes() const { return common_.even || me_ == common_.root; }

  const int me_, ranks_;
  std::optional<coll::TwoSides> sides_;  // of an intercommunicator
  Outline common_;                       // edges: this member's
  std::unique_ptr<FaceReduction> reduction_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

}  // namespace isthmus::face
