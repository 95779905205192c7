#include "mpi/making/join.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include "coll/engine/party.hpp"
#include "core/trace/trace.hpp"
#include "mpi/coll/failures.hpp"
#include "mpi/coll/wrong_calls.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/making/agree_on_limits.hpp"
#include "mpi/making/channels.hpp"
#include "mpi/making/grid_barrier.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/networks.hpp"
#include "mpi/making/unfinished.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/environment.hpp"
#include "mpi/native/face.hpp"
#include "mpi/native/thread_level.hpp"
#include "mpi/p2p/drain.hpp"
#include "mpi/process/cluster_changes.hpp"
#include "mpi/process/failed_clusters.hpp"
#include "mpi/process/file_service.hpp"
#include "mpi/process/files_left_open.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"
#include "mpi/process/tracing.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/waits.hpp"
#include "mpi/request/whereabouts.hpp"
#include "mpi/survival/agreeing.hpp"
#include "mpi/survival/survivors.hpp"
#include "net/door/host_addresses.hpp"
#include "net/door/report.hpp"

namespace isthmus::face {
namespace {

// The wait of a rank after news that the grid is broken. The native launcher ends the ranks of the
// cluster that broke it. It should see the status of the rank that broke it, rather than that of a
// faster sibling (2026-11: mpirun takes some 100 ms on a loaded host).
constexpr std::chrono::milliseconds kLastWait{1000};

// On the I/O thread: no MPI, no locks, no program code. The launcher prints the reason. In case it
// cannot, one rank of each cluster prints it, too.
void on_fault(bool says_why, const std::string& sentence, int code) {
  core::trace::dump(sentence.c_str());
  std::this_thread::sleep_for(kLastWait);
  if (says_why) {
    const std::string line = "isthmus: " + sentence + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  }
  _exit(code & 0xFF ? code & 0xFF : 1);
}

std::size_t cluster_named(const core::World& world, const std::string& name) {
  for (std::size_t i = 0; i < world.clusters.size(); ++i) {
    if (world.clusters[i].name == name) return i;
  }
  throw std::runtime_error("ISTHMUS_CLUSTER is '" + name + "', which is not in ISTHMUS_WORLD");
}

/// The same number on hosts of every kind: FNV-1a.
std::uint64_t mark_of(const std::string& text) {
  std::uint64_t mark = 0xCBF2'9CE4'8422'2325;
  for (const char c : text) mark = (mark ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3;
  return mark;
}

/// Adds the algorithms of a library that a lab names. They stay for as long as the process.
void load_algorithms(const std::string& path) {
  static bool loaded = false;
  if (path.empty() || std::exchange(loaded, true)) return;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Find = void (*)(std::span<const coll::Algorithm>*);
  const auto find =
      reinterpret_cast<Find>(library == nullptr ? nullptr : dlsym(library, "isthmus_algorithms"));
  if (find == nullptr) {
    throw std::runtime_error("ISTHMUS_DEBUG_ALGORITHMS cannot be used: " + std::string(dlerror()));
  }
  std::span<const coll::Algorithm> rows;
  find(&rows);
  coll::add_algorithms(rows);
}

/// The variables about collectives.
void read_settings(Grid& grid, const Environment& environment) {
  try {
    grid.forced = coll::parse_forced(environment.collectives);
  } catch (const std::invalid_argument& wrong) {
    throw std::runtime_error(std::string("ISTHMUS_COLL is wrong: ") + wrong.what());
  }
  grid.network = grid.part_network = networks_of(grid.world(), environment.networks);
  grid.networks = environment.networks;
  grid.stats = environment.stats;
  grid.reorders = environment.reorders;
  grid.reproducible = environment.reproducible;
  grid.settings_mark = mark_of(environment.collectives + '\n' + environment.networks +
                               (environment.reproducible ? "\nreproducible" : ""));
}

std::unique_ptr<Grid> make_grid(const Environment& environment) {
  load_algorithms(environment.algorithms);
  auto made = std::make_unique<Grid>();
  made->learn_world(std::make_shared<const core::World>(core::world_from_json(environment.world)));
  const core::World& world = made->world();
  made->job = environment.job;
  made->cluster = cluster_named(world, environment.cluster);
  made->first = world.clusters[made->cluster].first;
  made->local_size = world.clusters[made->cluster].size;
  int native_size = 0;
  int native_rank = 0;
  native.Comm_size(MPI_COMM_WORLD, &native_size);
  native.Comm_rank(MPI_COMM_WORLD, &native_rank);
  if (made->first != environment.first) {
    throw std::runtime_error("ISTHMUS_FIRST is " + std::to_string(environment.first) +
                             ", but cluster " + environment.cluster + " begins at process " +
                             std::to_string(made->first) + " in ISTHMUS_WORLD");
  }
  if (native_size != made->local_size) {
    throw std::runtime_error(
        "the native MPI_COMM_WORLD of cluster " + environment.cluster + " has " +
        std::to_string(native_size) + " ranks where the grid expects " +
        std::to_string(made->local_size) +
        ": the native launcher did not start the program with the MPI library that the program "
        "uses, or as many times as it was told to");
  }
  made->node = made->first + native_rank;
  made->world_rank = world.rank_of(static_cast<core::NodeId>(made->node));
  read_settings(*made, environment);
  made->one_host = world.on_one_host();
  made->crowded = made->one_host && world.size() > sysconf(_SC_NPROCESSORS_ONLN);
  // A run of one cluster is native, but profiles, other runs and spare clusters need its gateway.
  // Reproducible reductions need the grid.
  const auto is_set = [](const char* name) { return setting(name) != nullptr; };
  if (world.clusters.size() < 2 && !made->reproducible && !is_set("ISTHMUS_PROFILE") &&
      !is_set("ISTHMUS_GUESTS") && !is_set("ISTHMUS_SPARE")) {
    return nullptr;
  }
  start_trace(environment, world, made->world_rank);
  if (environment.survives) {
    FailedClusters::allow();
    add_survival_errors();
  }

  native.Comm_dup(MPI_COMM_SELF, &made->self);
  native.Comm_set_errhandler(made->self, MPI_ERRORS_RETURN);
  native.Comm_dup(MPI_COMM_WORLD, &made->cluster_comm);
  native.Comm_set_name(made->cluster_comm, ("cluster " + environment.cluster).c_str());
  native.Comm_group(MPI_COMM_WORLD, &made->native_world);
  made->shadow =
      std::make_unique<Shadow>(traffic::clusters_with_growth(world.clusters.size()),
                               native_size > 1 ? plain_copy(MPI_COMM_WORLD) : MPI_COMM_NULL);
  net::EndpointConfig config;
  config.world = world;
  config.node = made->node;
  config.job = environment.job;
  config.secret = environment.secret;
  config.memory = !environment.sockets;
  config.lend_from = environment.lend_from;
  config.ports = environment.ports;
  config.needs = note_end_of;
  config.survives = environment.survives;
  config.failed = [](std::size_t cluster, const std::string& why) {
    FailedClusters::all().add(cluster, why);
  };
  ClusterChanges::all().begin(setting("ISTHMUS_SPARE"));
  config.changed = [](net::ClusterChange kind, const std::string& cluster, const std::string& why) {
    ClusterChanges::all().add(kind, cluster, why);
  };
  config.whereabouts = [rank = made->world_rank](const net::Sight& sight) {
    return whereabouts(rank, sight);
  };
  const bool speaks = made->node == made->first;
  made->endpoint = net::Endpoint::join(
      std::move(config),
      [speaks](const std::string& sentence, int code) { on_fault(speaks, sentence, code); });
  return made;
}

/// Ends the job without an endpoint. The launcher learns which rank failed, where, and why; if it
/// cannot be told, standard error has the sentence.
[[noreturn]] void end_joining(const Environment& environment, const std::string& why) {
  std::string sentence = "cannot join the grid: " + why;
  try {
    const core::World world = core::world_from_json(environment.world);
    int native_rank = 0;
    native.Comm_rank(MPI_COMM_WORLD, &native_rank);
    const int node = environment.first + native_rank;
    sentence =
        world.name_of(static_cast<core::NodeId>(node)) + " on " + net::host_name() + " " + sentence;
    const net::Credentials credentials{environment.job, environment.secret};
    const bool in_world = node >= 0 && node < world.size();
    if (in_world && net::report_fault(world, node, credentials, sentence, kLastWait).empty()) {
      abort_grid(1, "");
    }
  } catch (const std::exception&) {
    sentence = "cannot join the grid: " + why;  // it says that the world cannot be read
  }
  abort_grid(1, sentence);
}

std::atomic<bool> has_left = false;

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before all else, the last set first; those
// of the program may still communicate (MPI-4.1 section 11.2.4). So ours, set first, is the moment
// to leave.
int keep_out_of_copies(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
int on_self_deleted(MPI_Comm, int, void*, void*) {
  leave_grid();
  return MPI_SUCCESS;
}
void leave_when_self_is_deleted() {
  int keyval = MPI_KEYVAL_INVALID;
  native.Comm_create_keyval(keep_out_of_copies, on_self_deleted, &keyval, nullptr);
  native.Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  native.Comm_free_keyval(&keyval);
}

/// Spawned processes fail alone, as a cluster does later: theirs has lost a member.
bool fails_alone() {
  const Grid& here = *grid();
  return may_lose() && here.world().clusters[here.cluster].part != 0 && here.world_comm &&
         loss_of_all(*here.world_comm).has_value();
}

/// Returns when all living ranks have joined. So a rank that fails as soon as MPI_Init has returned
/// cannot end the MPI_Init of another one.
void outlast_joining(const GridCommRef& world) {
  if (world->size < 2) return;
  int flag = 0;
  try {
    agree_on_flag(world, &flag);
  } catch (const MpiError& failure) {
    static_cast<void>(failure);  // a rank has failed: the program's first calls say so
  }
}

}  // namespace

void join_grid(ProgressBy by) {
  if (!in_grid() || grid()) return;
  const Inside inside;
  Environment environment;
  try {
    environment = read_environment();
    auto made = make_grid(environment);
    if (!made) return;
    Grid* const joined = made.release();  // never deleted: threads of ours may still use it
    set_grid(joined);
    const core::Group everybody = joined->part_group();
    const std::uint64_t context = static_cast<std::uint64_t>(everybody.node(0)) << 32;
    joined->world_comm = make_comm(everybody, context, MPI_COMM_WORLD, TagRange::of_world());
    if (joined->part().size() > 1) enter_comm(joined->world_comm);
    serve_files();
    hear_of_failures();
    hear_of_wrong_calls();
    hear_of_survivors();
    start_native_progress(by, threads_multiple());
    if (environment.survives) {
      drain_revoked();
      tidy_unfinished();
    }
    agree_on_limits();
    make_channels(*joined);
    if (environment.survives) outlast_joining(joined->world_comm);
    leave_when_self_is_deleted();
  } catch (const std::exception& failure) {
    if (grid() == nullptr) end_joining(environment, failure.what());
    const std::string why = "cannot join the grid on " + net::host_name() + ": " + failure.what();
    if (fails_alone()) on_fault(true, why, 1);
    abort_grid(1, why);
  }
}

void leave_grid() {
  Grid* const leaving = grid();
  if (leaving == nullptr) return;
  const Inside inside;
  if (leaving->stats && leaving->world_rank == 0) {
    const std::string table = leaving->choices.table();
    [[maybe_unused]] const auto written = write(STDERR_FILENO, table.data(), table.size());
  }
  FilesLeftOpen* const files = files_left_open.load(std::memory_order_acquire);
  try {
    if (files != nullptr) files->settle();
    const KnownWait here({.call = "MPI_Finalize"});
    drain_at_the_end();
    grid_barrier(*leaving);
    drain_at_the_end();
    if (files != nullptr) files->tidy();
    free_channels(*leaving);
    leaving->world_comm.reset();
    unregister_comm(MPI_COMM_WORLD);
    leaving->endpoint->leave();
  } catch (const std::exception& failure) {
    abort_grid(1, std::string("cannot leave the grid: ") + failure.what());
  }
  set_grid(nullptr);
  native.Group_free(&leaving->native_world);
  native.Comm_free(&leaving->cluster_comm);
  native.Comm_free(&leaving->self);
  if (leaving->shadow->comm != MPI_COMM_NULL) native.Comm_free(&leaving->shadow->comm);
  core::trace::dump("MPI_Finalize");
  has_left = true;
}

}  // namespace isthmus::face

int isthmus_has_left() { return isthmus::face::has_left ? 1 : 0; }
