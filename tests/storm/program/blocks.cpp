#include "blocks.hpp"

namespace storm {

Blocks::Blocks(const std::vector<int>& counts, bool apart, Random random)
    : lists_(std::make_shared<Lists>()) {
  lists_->counts = counts;
  lists_->places.resize(counts.size());
  lists_->types.assign(counts.size(), MPI_BYTE);
  std::vector<std::size_t> order(counts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (apart) random.shuffle(order);
  int at = 0;
  for (const std::size_t i : order) {
    if (apart) at += random.below(40);
    lists_->places[i] = at;
    at += counts[i];
  }
  bytes_ = Bytes(static_cast<std::size_t>(at));
}

std::span<unsigned char> Blocks::block(int which) const {
  const auto i = static_cast<std::size_t>(which);
  return bytes_.all().subspan(static_cast<std::size_t>(lists_->places[i]),
                              static_cast<std::size_t>(lists_->counts[i]));
}

std::vector<int> draw_counts(Step& step, int size, bool different, std::size_t most) {
  std::vector<int> counts;
  for (int i = 0; i < size; ++i) {
    const bool same = !different && i > 0;
    counts.push_back(same ? counts[0] : static_cast<int>(step.draw_size(most)));
  }
  return counts;
}

}  // namespace storm
