#include "lab/wan_box.hpp"

#include <ctime>
#include <stdexcept>

namespace isthmus::lab {
namespace {

using nlohmann::json;

constexpr int kBatch = 32;  // frames that one direction reads before the other's turn
// A sleeper wakes late. If packets are far apart, the box stays awake for this time before each is
// due. This makes the round trip of an idle link exact at little cost.
constexpr Nanos kLead = 80'000;
constexpr Nanos kFarApart = 500'000;
constexpr std::size_t kMilliseconds = 2048;   // of an answer, which a socket has to take at once
constexpr std::size_t kWorthKeeping = 16384;  // a frame of this size is moved instead of copied

Nanos clock_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

WanBox::WanBox(FileDescriptor a, FileDescriptor b, const WanBoxOptions& options)
    : pool_(options.memory),
      a_(std::move(a)),
      b_(std::move(b)),
      directions_{
          Direction{
              "ab", a_.get(), b_.get(), Channel(pool_, options.settings[0], options.seed), {}},
          Direction{"ba",
                    b_.get(),
                    a_.get(),
                    Channel(pool_, options.settings[1], options.seed + 1000),
                    {}}},
      scratch_(pool_.get(kMaxFrame)),
      control_(options.control, [this](const std::string& line) { return answer(line); }) {
  if (!scratch_) throw std::runtime_error("the memory limit is too small for one packet");
}

void WanBox::run(const std::atomic<bool>& stop) {
  while (!stop) {
    bool busy = false;
    for (Direction& direction : directions_) {
      busy = read_some(direction) || busy;
      write_due(direction);
    }
    wait(busy);
  }
}

// True: there may be more to read at once.
bool WanBox::read_some(Direction& direction) {
  for (int i = 0; i < kBatch; ++i) {
    const ssize_t n = read(direction.in, scratch_.get(), kMaxFrame);
    if (n <= 0) return false;
    const auto size = static_cast<std::uint32_t>(n);
    const Nanos now = clock_now();
    if (size > kWorthKeeping) {
      if (BufferPool::Buffer next = pool_.get(kMaxFrame)) {
        direction.channel.accept(std::exchange(scratch_, std::move(next)), size, now);
        continue;
      }
    }
    direction.channel.accept({scratch_.get(), size}, now);
  }
  return true;
}

void WanBox::write_due(Direction& direction) {
  for (int i = 0; i < 2 * kBatch; ++i) {
    const auto due = direction.channel.take_due(clock_now());
    if (!due) return;
    last_delivery_ = clock_now();
    direction.lateness.note(last_delivery_ - due->release);
    const auto frame = due->packet.frame();
    if (write(direction.out, frame.data(), frame.size()) < 0) ++direction.failed_writes;
  }
}

void WanBox::wait(bool busy) {
  polled_.clear();
  polled_.push_back({a_.get(), POLLIN, 0});
  polled_.push_back({b_.get(), POLLIN, 0});
  control_.watch(polled_);
  timespec timeout{60, 0};
  const Nanos now = clock_now();
  for (const Direction& direction : directions_) {
    if (const auto deadline = direction.channel.deadline()) {
      const Nanos lead = *deadline - last_delivery_ > kFarApart ? kLead : 0;
      const Nanos left = std::max<Nanos>(*deadline - lead - now, 0);
      const timespec until{left / kSecond, left % kSecond};
      if (until.tv_sec < timeout.tv_sec ||
          (until.tv_sec == timeout.tv_sec && until.tv_nsec < timeout.tv_nsec)) {
        timeout = until;
      }
    }
  }
  if (busy) timeout = {0, 0};
  if (ppoll(polled_.data(), polled_.size(), &timeout, nullptr) <= 0) return;
  for (std::size_t i = 2; i < polled_.size(); ++i) {
    if (polled_[i].revents != 0) {
      control_.serve();
      break;
    }
  }
}

std::string WanBox::answer(const std::string& line) {
  try {
    const json request = json::parse(line);
    const auto op = request.value("op", std::string());
    if (op == "traffic") return traffic(request).dump();
    if (op == "set") {
      change(request.value("link", json()));
    } else if (op == "reset") {
      for (Direction& direction : directions_) {
        direction.channel.reset_counters();
        direction.lateness = {};
        direction.failed_writes = 0;
      }
    } else if (op != "get") {
      throw std::invalid_argument("\"op\" must be \"get\", \"set\", \"reset\" or \"traffic\"");
    }
    return state().dump();
  } catch (const std::exception& error) {
    return json{{"ok", false}, {"error", error.what()}}.dump(-1, ' ', false,
                                                             json::error_handler_t::replace);
  }
}

void WanBox::change(const json& link) {
  const LinkSettings now{directions_[0].channel.settings(), directions_[1].channel.settings()};
  const LinkSettings then = changed(now, link);
  for (std::size_t i = 0; i < 2; ++i) directions_[i].channel.change(then[i], clock_now());
}

json WanBox::state() {
  json result{{"ok", true}, {"memory", pool_.in_use()}};
  for (Direction& direction : directions_) {
    Channel& channel = direction.channel;
    result[direction.name] = {{"settings", to_json(channel.settings())},
                              {"counters", to_json(channel.counters())},
                              {"backlog", channel.backlog(clock_now())},
                              {"in_flight", channel.in_flight()},
                              {"failed_writes", direction.failed_writes},
                              {"late",
                               {{"mean", direction.lateness.mean_seconds()},
                                {"most", static_cast<double>(direction.lateness.most) / 1e9},
                                {"over_1ms", direction.lateness.over_millisecond}}}};
  }
  return result;
}

json WanBox::traffic(const json& request) const {
  const auto way = request.value("way", std::string());
  const auto since = request.value("since", std::int64_t{0});
  for (const Direction& direction : directions_) {
    if (way != direction.name) continue;
    json rows = json::array();
    for (const Millisecond& one : direction.channel.traffic().since(since, kMilliseconds)) {
      rows.push_back({one.at, one.bytes, one.dropped});
    }
    return {{"ok", true}, {"now", clock_now() / kMillisecond}, {"milliseconds", rows}};
  }
  throw std::invalid_argument("\"way\" must be \"ab\" or \"ba\"");
}

}  // namespace isthmus::lab
