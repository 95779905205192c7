// The state of this process as a member of the grid, made by MPI_Init and ended by MPI_Finalize.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "coll/engine/forced.hpp"
#include "coll/engine/network.hpp"
#include "core/world/group.hpp"
#include "core/world/world.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/choices.hpp"
#include "mpi/process/tag_range.hpp"
#include "net/endpoint/endpoint.hpp"

namespace isthmus::face {

struct GridComm;  // comm/comm.hpp

struct Grid {
  std::string job;          ///< its name
  int node = 0;             ///< the number of this process in all of the grid
  int world_rank = 0;       ///< the rank that users know; the node, unless a map sets another
  std::size_t cluster = 0;  ///< index of mine
  int first = 0;            ///< node of my cluster's native rank 0
  int local_size = 0;       ///< of my cluster
  std::unique_ptr<net::Endpoint> endpoint;
  MPI_Comm self = MPI_COMM_NULL;  ///< private duplicate of MPI_COMM_SELF
  /// This cluster's ranks, for the program (include/isthmus.h). Made in MPI_Init: later it would
  /// take a call of all ranks here, and the program may ask on any one of them.
  MPI_Comm cluster_comm = MPI_COMM_NULL;
  /// The communicators of World::channels, in its order. MPI_Init makes them. MPI_COMM_NULL if
  /// this process is not in the channel.
  std::vector<MPI_Comm> channels;
  /// For messages of Isthmus's own in the cluster.
  std::unique_ptr<Shadow> shadow;
  MPI_Group native_world = MPI_GROUP_NULL;  ///< the native world's group
  /// The communicator of all that began together; its handle is MPI_COMM_WORLD, even if that is
  /// native.
  std::shared_ptr<GridComm> world_comm;
  std::string networks;        ///< the launcher's text about them: ISTHMUS_NETWORK
  coll::Network network;       ///< figures for the choice of collective algorithms
  coll::Network part_network;  ///< the same among the ranks of my MPI_COMM_WORLD, which measured
                               ///< more
  coll::Forced forced;         ///< requested algorithms on all communicators
  bool reorders = false;       ///< topologies may move ranks
  bool reproducible = false;   ///< reductions have one order over ranks, on all communicators
  std::uint64_t settings_mark = 0;  ///< of the texts that the two came from: the same on all ranks
  bool one_host = false;            ///< all ranks are on one host
  bool crowded = false;             ///< and are more than its cores
  bool stats = false;               ///< rank 0 prints `choices` in the end
  Choices choices;                  ///< under the progress lock
  /// Counts changes of the figures behind choices: all kept choices are then made again.
  std::atomic<std::uint64_t> choices_by{0};

  /// The newest world that this process needed; it grows. The returned reference stays valid.
  const core::World& world() const { return *world_.load(std::memory_order_acquire); }
  void learn_world(std::shared_ptr<const core::World> world);
  /// The clusters of my MPI_COMM_WORLD, and its ranks.
  std::span<const core::Cluster> part() const {
    return world().part(world().clusters[cluster].part);
  }
  core::Group part_group() const { return world().group_of(world().clusters[cluster].part); }
  /// Native world rank of a process, or -1 in another cluster.
  int native_of(int node) const {
    const int n = node - first;
    return n >= 0 && n < local_size ? n : -1;
  }

 private:
  std::atomic<const core::World*> world_{nullptr};
  std::mutex learning_;
  std::vector<std::shared_ptr<const core::World>> worlds_;  // all that world() has ever returned
};

/// Null before MPI_Init, after MPI_Finalize, and in a grid of one cluster (all is native there)
/// unless it is profiled, reproducible or has guests.
Grid* grid();
/// The same, but stays after MPI_Finalize. For threads of ours, which outlive it: a grid is never
/// deleted, and an endpoint that has left sends nothing.
Grid* last_grid();

/// Whether a call is the native library's alone: the process is outside a grid, or the call comes
/// from within.
inline bool native_call() { return inner_call() || grid() == nullptr; }
/// For joining and leaving (making/join.cpp): a grid, then null.
void set_grid(Grid* grid);

/// Ends every process of the grid with `code`, after `sentence` on standard error if it is not
/// empty (MPI_Abort, and fatal errors). Outside a grid it ends the native job.
[[noreturn]] void abort_grid(int code, const std::string& sentence);

}  // namespace isthmus::face
