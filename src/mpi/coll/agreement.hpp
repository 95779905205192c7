// What the members of communicators tell each other when communicators are made. All of these are
// collective, keep the program's other operations going while they wait, and throw coll::Failure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/group.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/native/native.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

/// One member's say in MPI_Comm_split.
struct SplitChoice {
  int colour = MPI_UNDEFINED;
  int key = 0;
  std::uint64_t context = 0;  ///< what it offers as the context, should it be rank 0 of the result
};

/// The choices of all members, by rank. When it returns, every member has called it, so a blocking
/// native collective over the cluster's members may follow.
std::vector<SplitChoice> exchange_choices(const GridCommRef& comm, SplitChoice mine);

/// A fresh context, the same on all members. Ends as exchange_choices does.
std::uint64_t agree_on_context(const GridCommRef& comm);

/// Whether all members have succeeded in their parts of something.
bool all_succeeded(const GridCommRef& comm, bool mine);

/// A barrier.
void meet(const GridCommRef& comm);

/// The smallest and the largest of the numbers that members give, over the cluster's members of a
/// communicator (native or grid); nothing when none gives one. Goes by the communicator's own
/// handle, where no other traffic of Isthmus is. Every member has called it when it returns.
struct Extremes {
  int least;
  int most;
};
std::optional<Extremes> local_extremes(MPI_Comm handle, std::optional<int> mine);

/// What is the same on the whole grid. Stands from MPI_Init on.
struct GridLimits {
  int native_tag_upper_bound = 32'767;  ///< MPI_TAG_UB of this cluster
  int tag_upper_bound = 32'767;         ///< MPI_TAG_UB of the grid: the least of the clusters'
  int universe_size = 0;                ///< MPI_UNIVERSE_SIZE: the sum of the clusters'
};
const GridLimits& limits();
/// Called once by MPI_Init, when MPI_COMM_WORLD stands: collective over the grid.
void agree_on_limits();

}  // namespace isthmus::face
