#include "mpi/profile/telling.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/mutex.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/profile/counting.hpp"
#include "mpi/profile/ranges.hpp"
#include "mpi/profile/sampler.hpp"
#include "mpi/profile/thread.hpp"

namespace isthmus::face::profile {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// The length of the text in one question. Quotes in it are escaped twice on the way, and the whole
// must stay below net::kMostAsked.
constexpr std::size_t kPiece = 10'000;
constexpr std::chrono::seconds kPatience{60}, kLittlePatience{2};

struct Running {
  core::Mutex mutex;
  Clock::time_point begun GUARDED_BY(mutex);
  std::unique_ptr<Sampler> sampler GUARDED_BY(mutex);  // null: not begun, or already sent
};
Running& running() {
  static Running& one = *new Running;  // outlives static objects that call MPI
  return one;
}

std::string host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// The sums of several threads.
struct Sum {
  std::uint64_t bytes = 0, messages = 0;
  std::array<std::uint64_t, kSizeClasses> of_size{};

  void add(const Sizes& sizes) {
    bytes += sizes.bytes.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < kSizeClasses; ++i) {
      const std::uint64_t count = sizes.messages[i].load(std::memory_order_relaxed);
      of_size[i] += count;
      messages += count;
    }
  }
  json sizes() const {
    json told = json::object();
    for (std::size_t i = 0; i < kSizeClasses; ++i) {
      if (of_size[i] > 0) told[std::to_string(static_cast<int>(i) - 1)] = of_size[i];
    }
    return told;
  }
};

/// [to, messages, bytes, sizes] of all threads.
json rows_of(const Rows& (Thread::*which)() const) {
  std::map<int, Sum> sums;
  each_thread([&](const Thread& thread) {
    (thread.*which)().each([&](int to, const Sizes& sizes) { sums[to].add(sizes); });
  });
  json rows = json::array();
  for (const auto& [to, sum] : sums) {
    if (sum.messages > 0) rows.push_back({to, sum.messages, sum.bytes, sum.sizes()});
  }
  return rows;
}

struct CollectiveSum {
  Sum given;
  std::uint64_t nanoseconds = 0;
};

/// Communicators by their members, and the collectives on them.
void add_collectives(json& told) {
  std::map<std::vector<int>, std::size_t> numbers;
  std::map<std::pair<unsigned, int>, CollectiveSum> sums;
  told["communicators"] = json::array();
  const auto number_of = [&](const Members* members) {
    if (members == nullptr) return -1;
    const auto [at, added] = numbers.emplace(members->all, numbers.size());
    if (added) {
      told["communicators"].push_back(
          {{"size", members->all.size()}, {"ranks", ranges_of(members->all)}});
    }
    return static_cast<int>(at->second);
  };
  each_thread([&](const Thread& thread) {
    thread.each_collective([&](unsigned function, const Members* members, const Calls& calls) {
      CollectiveSum& sum = sums[{function, number_of(members)}];
      sum.given.add(calls.given);
      sum.nanoseconds += calls.nanoseconds.load(std::memory_order_relaxed);
    });
  });
  told["collectives"] = json::array();
  for (const auto& [which, sum] : sums) {
    told["collectives"].push_back({{"function", kFunctionNames[which.first]},
                                   {"communicator", which.second < 0 ? json() : json(which.second)},
                                   {"entered", sum.given.messages},
                                   {"bytes", sum.given.bytes},
                                   {"sizes", sum.given.sizes()},
                                   {"seconds", static_cast<double>(sum.nanoseconds) / 1e9}});
  }
}

json profile_of(const Grid& here, const Sampler& sampler, double seconds) {
  json told{{"rank", here.world_rank},
            {"cluster", here.world().clusters[here.cluster].name},
            {"host", host()},
            {"seconds", seconds},
            {"mpi", std::min(sampler.all().mpi, seconds)},
            {"wan", std::min(sampler.all().wan, seconds)},
            {"calls", json::object()}};
  for (const auto& [function, times] : sampler.by_function()) {
    told["calls"][kFunctionNames[function]] = {times.mpi, times.wan};
  }
  told["pairs"] = rows_of(&Thread::messages);
  told["windows"] = rows_of(&Thread::operations);
  add_collectives(told);
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t calls = 0;
  each_thread([&](const Thread& thread) {
    read += thread.files.read;
    written += thread.files.written;
    calls += thread.files.calls;
  });
  if (calls > 0) told["files"] = {{"read", read}, {"written", written}, {"calls", calls}};
  return told;
}

/// False: it has not been answered in time.
bool asked(net::Endpoint& endpoint, const json& request, Clock::time_point limit) {
  const std::uint64_t number =
      endpoint.ask(request.dump(-1, ' ', true, json::error_handler_t::replace));
  while (Clock::now() < limit) {
    const std::uint32_t seen = endpoint.events();
    if (endpoint.answer(number)) return true;
    endpoint.wait_event(seen, std::chrono::milliseconds(10));
  }
  return false;
}

void tell_within(std::chrono::seconds patience) {
  const core::Lock lock(running().mutex);
  const Grid* const here = grid();
  const auto sampler = std::move(running().sampler);
  if (!sampler || here == nullptr) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - running().begun).count();
  sampler->stop();
  const std::string text =
      profile_of(*here, *sampler, seconds).dump(-1, ' ', true, json::error_handler_t::replace);
  const auto limit = Clock::now() + patience;
  for (std::size_t at = 0; at < text.size(); at += kPiece) {
    const bool last = at + kPiece >= text.size();
    const json piece{{"do", "profile"}, {"text", text.substr(at, kPiece)}, {"last", last}};
    if (!asked(*here->endpoint, piece, limit)) return;  // the launcher reports the missing ranks
  }
}

/// A forked child has neither the sampler's thread nor a connection of its own.
void tell_at_exit(int, void* process) {
  if (reinterpret_cast<std::intptr_t>(process) == ::getpid()) tell_soon();
}

}  // namespace

void begin() {
  const core::Lock lock(running().mutex);
  if (grid() == nullptr || running().sampler) return;
  static bool begun = false;
  if (std::exchange(begun, true)) return;
  running().begun = Clock::now();
  running().sampler = std::make_unique<Sampler>();
  // Not std::atexit, which is of this library (native/never_destroyed.cpp).
  ::on_exit(tell_at_exit, reinterpret_cast<void*>(std::intptr_t{::getpid()}));
  before_death = tell_soon;
}

void tell() { tell_within(kPatience); }
void tell_soon() { tell_within(kLittlePatience); }

}  // namespace isthmus::face::profile
