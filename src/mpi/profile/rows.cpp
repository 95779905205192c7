#include "mpi/profile/rows.hpp"

namespace isthmus::face::profile {

Sizes& Rows::of(int world_rank) {
  if (const auto found = rows_.find(world_rank); found != rows_.end()) return *found->second;
  if (world_rank < 0 || rows_.size() >= kMost) return others_;
  const core::Lock lock(mutex_);
  return *rows_.emplace(world_rank, std::make_unique<Sizes>()).first->second;
}

void Rows::each(const std::function<void(int, const Sizes&)>& use) const {
  const core::Lock lock(mutex_);
  for (const auto& [world_rank, sizes] : rows_) use(world_rank, *sizes);
  use(kOthers, others_);
}

}  // namespace isthmus::face::profile
