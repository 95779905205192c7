#include "mpi/coll/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

#include "coll/engine/collectives.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

GridLimits agreed;

/// A predefined attribute of MPI_COMM_WORLD, or nothing where the native library has no value.
std::optional<int> world_attribute(int keyval) {
  Inside inside;
  int* value = nullptr;
  int found = 0;
  if (native.Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &found) != MPI_SUCCESS || found == 0) {
    return std::nullopt;
  }
  return *value;
}

/// The exchange under way: a collective like any other, in its place among them.
template <class Start>
class Agreement final : public Collective {
 public:
  Agreement(const GridCommRef& parent, Start how)
      : Collective(parent, "agreement on a communicator"), how_(std::move(how)) {}

 private:
  coll::Task start(coll::Party& party) override { return how_(party); }
  Start how_;
};

template <class Start>
void agree(const GridCommRef& comm, Start&& how) {
  Agreement<std::decay_t<Start>> agreement(comm, std::forward<Start>(how));
  wait_until([&] {
    const std::lock_guard lock(progress_mutex);
    return agreement.advance();
  });
  if (agreement.result.error != MPI_SUCCESS) {
    throw coll::Failure(MPI_ERR_OTHER, "the members could not agree on the new communicator");
  }
}

template <class Item>
std::vector<Item> tell_all(const GridCommRef& comm, const Item& mine) {
  std::vector<Item> all(static_cast<std::size_t>(comm->size));
  agree(comm, [&](coll::Party& party) {
    return coll::allgather(party, std::as_bytes(std::span(&mine, 1)),
                           std::as_writable_bytes(std::span(all)),
                           coll::Sizes(all.size(), sizeof(Item)));
  });
  return all;
}

coll::Task spread_then_meet(coll::Party& party, coll::Bytes data) {
  coll::Task spread = coll::bcast(party, data, 0);
  co_await spread;
  coll::Pending all_here = party.local_barrier();
  co_await all_here;
}

}  // namespace

std::vector<SplitChoice> exchange_choices(const GridCommRef& comm, SplitChoice mine) {
  return tell_all(comm, mine);
}

std::uint64_t agree_on_context(const GridCommRef& comm) {
  std::uint64_t context = comm->rank == 0 ? fresh_context() : 0;
  agree(comm, [&](coll::Party& party) {
    return spread_then_meet(party, std::as_writable_bytes(std::span(&context, 1)));
  });
  return context;
}

bool all_succeeded(const GridCommRef& comm, bool mine) {
  const std::vector<std::uint8_t> all = tell_all(comm, static_cast<std::uint8_t>(mine ? 1 : 0));
  return std::find(all.begin(), all.end(), 0) == all.end();
}

void meet(const GridCommRef& comm) {
  agree(comm, [](coll::Party& party) { return coll::barrier(party); });
}

std::optional<Extremes> local_extremes(MPI_Comm handle, std::optional<int> mine) {
  constexpr int kNone = std::numeric_limits<int>::min();
  const std::array<int, 2> given{mine ? -*mine : kNone, mine ? *mine : kNone};
  std::array<int, 2> most{};
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  {
    Inside inside;
    code = native.Iallreduce(given.data(), most.data(), 2, MPI_INT, MPI_MAX, handle, &request);
  }
  wait_until([&] {
    Inside inside;
    int done = 1;
    if (code == MPI_SUCCESS) code = native.Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  if (code != MPI_SUCCESS) throw coll::Failure(MPI_ERR_OTHER, "a native reduction failed");
  if (most[1] == kNone) return std::nullopt;
  return Extremes{-most[0], most[1]};
}

const GridLimits& limits() { return agreed; }

void agree_on_limits() {
  struct Mine {
    int tag_upper_bound;
    int universe_size;  // of the cluster; the number of its ranks where it is not known
    std::uint64_t settings_mark;
  };
  agreed.native_tag_upper_bound = world_attribute(MPI_TAG_UB).value_or(traffic::kPromisedTags);
  if (agreed.native_tag_upper_bound < traffic::kPromisedTags) {
    throw std::runtime_error("the native MPI library's MPI_TAG_UB is " +
                             std::to_string(agreed.native_tag_upper_bound) +
                             ", but MPI promises at least 32767: use another transport of it");
  }
  agreed.tag_upper_bound = agreed.native_tag_upper_bound;
  const Grid& here = *grid();
  if (here.world.clusters.size() > static_cast<std::size_t>(coll::kMaxClusters)) {
    throw std::runtime_error("the grid has " + std::to_string(here.world.clusters.size()) +
                             " clusters; at most " + std::to_string(coll::kMaxClusters) +
                             " are possible");
  }
  const int universe = world_attribute(MPI_UNIVERSE_SIZE).value_or(0);
  const std::vector<Mine> all =
      tell_all(here.world_comm, Mine{agreed.native_tag_upper_bound,
                                     std::max(universe, here.local_size()), here.settings_mark});
  for (const Mine& each : all) {
    agreed.tag_upper_bound = std::min(agreed.tag_upper_bound, each.tag_upper_bound);
    if (each.settings_mark != all.front().settings_mark) {
      throw std::runtime_error(
          "ISTHMUS_COLL or ISTHMUS_NETWORK is not the same on all ranks: give them to all with "
          "`isthmus run -x NAME=VALUE`");
    }
  }
  for (const core::Cluster& cluster : here.world.clusters) {
    agreed.universe_size += all[static_cast<std::size_t>(cluster.first)].universe_size;
  }
}

}  // namespace isthmus::face
