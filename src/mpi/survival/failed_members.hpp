// The members of a communicator that were in clusters that have failed.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/agreement/rank_set.hpp"
#include "core/world/group.hpp"
#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Ranks in `group` of the members in those clusters, which are indices of World::clusters.
core::RankSet members_in(const core::Group& group, std::span<const std::size_t> clusters);
/// These members, in the order of the clusters; ranks of one ascend.
core::Group failed_group(const core::Group& group, std::span<const std::size_t> clusters);
/// Why these members have failed: a sentence that names their clusters.
std::string why_failed(const core::Group& group, const core::RankSet& failed);

}  // namespace isthmus::face
