#include "mpi/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "mpi/courier.hpp"
#include "mpi/entry.hpp"
#include "mpi/grid.hpp"
#include "mpi/progress.hpp"

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

template <class Item>
std::vector<Item> tell_all(const GridComm& comm, Item mine) {
  std::vector<Item> all(static_cast<std::size_t>(comm.size), mine);
  const auto everything = std::as_writable_bytes(std::span(all));
  const int tag = agreed.tag_upper_bound;
  if (comm.rank != 0) {
    courier_send(comm, 0, tag, std::as_bytes(std::span(&mine, 1)));
    courier_recv(comm, 0, tag, everything);
    return all;
  }
  for (int rank = 1; rank < comm.size; ++rank) {
    const auto place = static_cast<std::size_t>(rank) * sizeof(Item);
    courier_recv(comm, rank, tag, everything.subspan(place, sizeof(Item)));
  }
  for (int rank = 1; rank < comm.size; ++rank) courier_send(comm, rank, tag, everything);
  return all;
}

}  // namespace

std::vector<SplitChoice> exchange_choices(const GridCommRef& comm, SplitChoice mine) {
  return tell_all(*comm, mine);
}

std::uint64_t agree_on_context(const GridCommRef& comm) {
  return tell_all(*comm, comm->rank == 0 ? fresh_context() : 0).front();
}

void meet(const GridCommRef& comm) { tell_all(*comm, char{}); }

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
    std::size_t cluster;
  };
  agreed.native_tag_upper_bound = world_attribute(MPI_TAG_UB).value_or(32'767);
  agreed.tag_upper_bound = agreed.native_tag_upper_bound;
  const Grid& here = *grid();
  const int universe = world_attribute(MPI_UNIVERSE_SIZE).value_or(0);
  const std::vector<Mine> all = tell_all(
      *here.world_comm,
      Mine{agreed.native_tag_upper_bound, std::max(universe, here.local_size()), here.cluster});
  for (const Mine& each : all) {
    agreed.tag_upper_bound = std::min(agreed.tag_upper_bound, each.tag_upper_bound);
  }
  for (const core::Cluster& cluster : here.world.clusters) {
    agreed.universe_size += all[static_cast<std::size_t>(cluster.first)].universe_size;
  }
}

}  // namespace isthmus::face
