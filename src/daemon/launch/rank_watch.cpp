#include "daemon/launch/rank_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

#include "core/hex.hpp"
#include "core/world.hpp"
#include "daemon/host/beside.hpp"
#include "daemon/host/file_descriptor.hpp"
#include "daemon/host/host.hpp"
#include "daemon/launch/bypass.hpp"
#include "net/report.hpp"

namespace isthmus::daemon {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Soon at first: a short program should not be over before it is looked at.
constexpr milliseconds kFirstPause{50};
constexpr milliseconds kMaxPause{500};
// A process in which MPI has begun without Isthmus may be a tool that ends at once; one that lives
// longer computes.
constexpr milliseconds kPatience{500};
constexpr milliseconds kReportLimit{5000};

// Tells when the rank has ended, at once where the kernel lets (Linux 5.3).
class End {
 public:
  explicit End(pid_t pid) : pid_(pid), fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  bool within(milliseconds limit) const {
    if (fd_) {
      pollfd wait{fd_.get(), POLLIN, 0};
      return poll(&wait, 1, static_cast<int>(limit.count())) != 0;
    }
    std::this_thread::sleep_for(limit);
    return kill(pid_, 0) != 0 && errno == ESRCH;
  }

 private:
  pid_t pid_;
  FileDescriptor fd_;
};

struct Watch {
  pid_t rank;
  int node;
  core::World world;
  net::Credentials credentials;
  Environment environment;
};

void end_job(const Watch& watch, const Sighting& seen) {
  const std::string sentence = fmt::format(
      "{}: \"{}\" (process {} on {}) uses MPI without Isthmus, and so takes its "
      "cluster for the whole world: {}",
      watch.world.name_of(static_cast<core::NodeId>(watch.node)), seen.program, seen.bypass,
      host_name(), seen.reason);
  const std::string trouble =
      net::report_fault(watch.world, watch.node, watch.credentials, sentence, kReportLimit);
  if (trouble.empty()) return;
  std::cerr << "isthmus: " << sentence << std::endl;
  kill(watch.rank, SIGKILL);
}

void run(const Watch& watch) {
  const End end(watch.rank);
  RankView view(watch.rank, watch.environment);
  Sighting bypass;
  Clock::time_point since;
  for (milliseconds pause = kFirstPause;; pause = std::min(pause * 3 / 2, kMaxPause)) {
    const bool suspect = bypass.bypass != 0;
    if (end.within(suspect ? std::min(pause, kPatience / 4) : pause)) {
      if (suspect) end_job(watch, bypass);
      return;
    }
    Sighting seen = view.look();
    if (seen.through) return;
    if (seen.bypass != bypass.bypass) since = Clock::now();
    bypass = std::move(seen);
    if (bypass.bypass != 0 && Clock::now() - since >= kPatience) return end_job(watch, bypass);
  }
}

}  // namespace

void start_rank_watch(pid_t rank, int node, const Environment& environment) {
  Watch watch{rank, node, {}, {}, environment};
  const auto world = environment.get("ISTHMUS_WORLD");
  if (!world) return;
  try {
    watch.world = core::world_from_json(*world);
  } catch (const std::invalid_argument&) {
    return;  // MPI_Init says so
  }
  const auto secret = core::from_hex(core::Secret(environment.get(kSecretVariable).value_or("")));
  if (watch.world.clusters.size() < 2 || !environment.get("ISTHMUS_STUB") || !secret) return;
  if (node < 0 || node >= watch.world.size()) return;
  watch.credentials = {environment.get("ISTHMUS_JOB").value_or(""), *secret};
  start_beside("isthmus-watch", {}, [&] { run(watch); });
}

}  // namespace isthmus::daemon
