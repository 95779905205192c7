// The buffer of a collective that has a block for each rank.
#pragma once

#include <memory>

#include "step.hpp"

namespace storm {

/// Copies share the memory and the counts, as long as a call needs them.
class Blocks {
 public:
  /// In the order that `random` says, with gaps, where `apart`; else in a row.
  Blocks(const std::vector<int>& counts, bool apart, Random random);

  [[nodiscard]] unsigned char* data() const { return bytes_.data(); }
  [[nodiscard]] const int* counts() const { return lists_->counts.data(); }
  [[nodiscard]] const int* places() const { return lists_->places.data(); }
  [[nodiscard]] const MPI_Datatype* types() const { return lists_->types.data(); }
  [[nodiscard]] std::span<unsigned char> block(int which) const;
  [[nodiscard]] int size() const { return static_cast<int>(lists_->counts.size()); }
  void spoil() const { bytes_.spoil(); }

 private:
  struct Lists {
    std::vector<int> counts, places;
    std::vector<MPI_Datatype> types;
  };
  std::shared_ptr<Lists> lists_;
  Bytes bytes_{0};
};

/// A count for each of `size` ranks, all the same where not `different`.
std::vector<int> draw_counts(Step& step, int size, bool different, std::size_t most);

}  // namespace storm
