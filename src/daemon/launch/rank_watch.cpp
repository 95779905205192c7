#include "daemon/launch/rank_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <thread>

#include "core/base/hex.hpp"
#include "core/world/world.hpp"
#include "daemon/host/beside.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/file_descriptor.hpp"
#include "daemon/host/host.hpp"
#include "daemon/launch/bypass.hpp"
#include "daemon/launch/mapped.hpp"
#include "net/door/report.hpp"

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

// Returns why no gateway heard the sentence; empty: one did, or the job is ending.
std::string tell(const Watch& watch, const std::string& sentence) {
  std::string trouble =
      net::report_fault(watch.world, watch.node, watch.credentials, sentence, kReportLimit);
  if (!trouble.empty()) std::cerr << "isthmus: " << sentence << std::endl;
  return trouble;
}

std::string rank_name(const Watch& watch) {
  return watch.world.name_of(static_cast<core::NodeId>(watch.node));
}

void end_job(const Watch& watch, const Sighting& seen) {
  const std::string sentence = fmt::format(
      "{}: \"{}\" (process {} on {}) uses MPI without Isthmus, and so takes its cluster for the "
      "whole world: {}",
      rank_name(watch), seen.program, seen.bypass, host_name(), seen.reason);
  if (!tell(watch, sentence).empty()) kill(watch.rank, SIGKILL);
}

// While the native library begins no gateway knows the rank, and some launchers do not tell of its
// end.
void watch_joining(const Watch& watch, pid_t joining) {
  // The report comes after the end of the rank, when Hydra kills the rank's process group, and the
  // agent ends what its launcher has left.
  setpgid(0, 0);
  std::signal(SIGTERM, SIG_IGN);
  // Hydra reports the end of a rank once no process holds the ranks' output. If that takes long, it
  // joins the status of the ranks that it has killed to that of the first (2026-11: status 137 in
  // place of 7).
  dup2(STDIN_FILENO, STDERR_FILENO);
  const End end(joining);
  for (milliseconds pause = kFirstPause;; pause = std::min(pause * 3 / 2, kMaxPause)) {
    if (end.within(pause)) {
      tell(watch, rank_name(watch) + " ended in MPI_Init or was killed on " + host_name());
      return;
    }
    const auto mapped = mapped_in(joining);
    if (mapped && mapped->joined) return;
  }
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
    if (seen.joined) return;
    if (seen.through != 0) return watch_joining(watch, seen.through);
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
  if (start_beside("isthmus-watch", {}, [&] { run(watch); })) return;
  const std::string sentence = rank_name(watch) + " cannot start on " + host_name() +
                               ": a process beside it: " + std::strerror(errno);
  tell(watch, sentence + ". " + kRaiseLimit);
  throw Failure(sentence, kRaiseLimit);
}

}  // namespace isthmus::daemon
