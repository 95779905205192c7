#include "mpi/coll/failures.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mutex.hpp"
#include "core/engine/service.hpp"
#include "core/trace/trace.hpp"
#include "core/wire/wire.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/process/file_worker.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"
#include "net/host/start_thread.hpp"

namespace isthmus::face {
namespace {

// A collective that failed elsewhere may still end here. It is given up after this time without
// events (2026-11).
constexpr std::chrono::seconds kPatience{10};
// So that the launcher hears why before it sees that this process has ended.
constexpr std::chrono::seconds kLastWait{1};
constexpr int kMostTold = 1024;
constexpr std::size_t kLongestText = 250;  // Writer::text
constexpr std::size_t kMostNotices = 4096;

struct Notice {
  std::string sentence;
  bool watched = false;
};

/// The first collective that is known to have failed on a communicator.
struct First {
  std::uint64_t number;
  std::string sentence;
};

/// The bytes of a message.
std::vector<std::byte> encode(std::uint64_t context, std::uint64_t number, int world_rank,
                              const std::string& function, const std::string& reason) {
  std::vector<std::byte> bytes;
  core::Writer out(bytes);
  out.u64(context);
  out.u64(number);
  out.u32(static_cast<std::uint32_t>(world_rank));
  out.text(function);
  out.text(reason.substr(0, kLongestText));
  return bytes;
}

/// The one that counts the collectives of both sides shares an intercommunicator's context.
const GridComm& counting(const GridComm& comm) { return comm.inter ? *comm.inter->whole : comm; }

[[noreturn]] void end_job(Grid& here, const std::string& sentence) {
  core::trace::dump(sentence.c_str());
  here.endpoint->abort(1, sentence);
  std::this_thread::sleep_for(kLastWait);
  _exit(1);
}

/// In a thread of its own: the program's may be in the native library, and cannot be called back.
void watch(std::uint64_t context, std::uint64_t number, const std::string& sentence) {
  while (true) {
    Grid* const here = grid();
    if (here == nullptr) return;
    const std::uint32_t seen = here->endpoint->events();
    std::this_thread::sleep_for(kPatience);
    if (grid() != here) return;
    bool waits = false;
    find_context(context, [&](const GridComm& comm) {
      waits = counting(comm).ended.load(std::memory_order_acquire) < number;
    });
    if (!waits) return;
    if (here->endpoint->events() == seen) end_job(*here, sentence);
  }
}

class Failures final : public core::Service {
 public:
  bool take(core::NodeId, const core::Envelope&, std::span<const std::byte> bytes) override {
    core::Reader in(bytes);
    const std::uint64_t context = in.u64();
    const std::uint64_t number = in.u64();
    const std::uint32_t rank = in.u32();
    const std::string function = in.text();
    const std::string reason = in.text();
    if (!in.good() || !in.at_end()) return false;
    const std::string what = "failed on rank " + std::to_string(rank) + ": " + reason;
    keep_first(context, number, function + " " + what);
    note({context, number}, function + " cannot end here, since it has " + what);
    bool begun = false;
    find_context(context, [&](const GridComm& comm) { begun = counting(comm).begun >= number; });
    if (begun) begins(context, number);
    return true;
  }

  void keep_first(std::uint64_t context, std::uint64_t number, const std::string& what) {
    const core::Lock lock(mutex_);
    if (first_.size() >= kMostNotices) first_.clear();
    const auto [place, is_new] = first_.try_emplace(context, First{number, what});
    if (!is_new && number < place->second.number) place->second = First{number, what};
  }

  std::optional<std::string> first_before(std::uint64_t context, std::uint64_t number) {
    const core::Lock lock(mutex_);
    const auto found = first_.find(context);
    if (found == first_.end() || found->second.number >= number) return std::nullopt;
    return found->second.sentence;
  }

  void begins(std::uint64_t context, std::uint64_t number) {
    if (!any_.load()) return;
    const core::Lock lock(mutex_);
    notices_.erase(notices_.lower_bound({context, 0}), notices_.lower_bound({context, number}));
    const auto found = notices_.find({context, number});
    if (found != notices_.end() && !std::exchange(found->second.watched, true)) {
      try {
        start_helper([context, number, sentence = found->second.sentence] {
          watch(context, number, sentence);
        });
      } catch (const net::NoThread&) {
        found->second.watched = false;  // as without the notice
      }
    }
    any_ = !notices_.empty();
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // context, number

  void note(const Key& key, std::string sentence) {
    const core::Lock lock(mutex_);
    if (notices_.size() >= kMostNotices) notices_.clear();  // no collective has waited for these
    notices_.try_emplace(key, Notice{std::move(sentence)});
    any_ = true;
  }

  core::Mutex mutex_;
  std::map<Key, Notice> notices_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, First> first_ GUARDED_BY(mutex_);  // by context
  std::atomic<bool> any_{false};
};

Failures& failures() {
  static auto* const all = new Failures;  // never destroyed: threads outlive static objects
  return *all;
}

}  // namespace

void hear_of_failures() {
  grid()->endpoint->locked(
      [](core::Engine& engine) { engine.serve(traffic::kFailures, failures()); });
}

void look_for_failure(const GridComm& comm, std::uint64_t number) {
  failures().begins(comm.context, number);
}

std::optional<std::string> earlier_failure(const GridComm& comm, std::uint64_t number) {
  return failures().first_before(comm.context, number);
}

void tell_failure(const GridComm& comm, std::uint64_t number, const std::string& function,
                  const std::string& reason) {
  failures().keep_first(
      comm.context, number,
      function + " failed on rank " + std::to_string(grid()->world_rank) + ": " + reason);
  const auto bytes = encode(comm.context, number, grid()->world_rank, function, reason);
  const core::Envelope envelope{
      .context = traffic::kFailures, .source = grid()->node, .tag = 0, .size = bytes.size()};
  const int step = std::max(1, comm.size / kMostTold);
  grid()->endpoint->locked([&](core::Engine& engine) {
    for (int rank = comm.rank % step; rank < comm.size; rank += step) {
      if (rank == comm.rank) continue;
      engine.post(static_cast<core::NodeId>(comm.group.node(rank)), envelope, bytes);
    }
  });
}

}  // namespace isthmus::face
