#include "sim/simulation.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace isthmus::sim {
namespace {

// Native libraries send messages up to this size eagerly (coll/patterns/pairwise.cpp); such sends
// are done at once.
constexpr std::size_t kUnasked = 32 << 10;
// Messages to another cluster up to this size are copied, and their sends are done at once
// (architecture.md).
constexpr std::size_t kGathered = 16 << 10;

void check_sizes(const Message& message, const Awaited& receive) {
  if (message.size == receive.place.size()) return;
  throw std::logic_error("a message of " + std::to_string(message.size) +
                         " bytes met a receive of " + std::to_string(receive.place.size()));
}

}  // namespace

Simulation::Simulation(Platform platform, const coll::Forced& forced, std::uint64_t most_messages)
    : platform_(std::move(platform)),
      forced_(forced),
      wires_(platform_.layout, platform_.network, events_),
      ends_(static_cast<std::size_t>(platform_.layout.size()), -1),
      most_messages_(most_messages) {
  parties_.reserve(ends_.size());
  for (int rank = 0; rank < platform_.layout.size(); ++rank) parties_.emplace_back(*this, rank);
}

void Simulation::run(const std::function<coll::Task(SimulatedParty&)>& body) {
  tasks_.reserve(parties_.size());
  for (SimulatedParty& one : parties_) tasks_.push_back(body(one));
  running_ = tasks_.size();
  for (int rank = 0; rank < platform_.layout.size(); ++rank) step(rank);
  while (!events_.empty()) {
    const Event event = events_.take();
    now_ = event.time;
    happen(event);
  }
  if (running_ == 0) return;
  std::string ranks;
  for (std::size_t r = 0, told = 0; r < ends_.size() && told < 8; ++r) {
    if (ends_[r] < 0) ranks += " " + std::to_string(r), ++told;
  }
  throw std::logic_error("deadlock: " + std::to_string(running_) + " ranks never end, such as" +
                         ranks);
}

void Simulation::step(int rank) {
  const auto r = static_cast<std::size_t>(rank);
  parties_[r].advance_phases();
  if (ends_[r] >= 0 || !tasks_[r].step()) return;
  ends_[r] = std::max(now_, parties_[r].free());
  tasks_[r] = {};
  --running_;
}

void Simulation::end(Awaited& awaited, int rank) {
  awaited.done = true;
  step(rank);
}

coll::Pending Simulation::send(SimulatedParty& from, int to, int tag, coll::ConstBytes data,
                               bool synchronous) {
  if (++messages_ > most_messages_) {
    throw TooManyMessages("more than " + std::to_string(most_messages_) + " messages");
  }
  auto* const message = new Message;
  message->from = from.rank();
  message->to = to;
  message->size = message->left = message->coming = data.size();
  message->synchronous = synchronous;
  const bool crosses = platform_.layout.cluster_of(to) != platform_.layout.cluster_of(from.rank());
  message->asks = !crosses && data.size() > kUnasked;
  if (platform_.contents && !data.empty()) {
    message->contents = std::make_unique_for_overwrite<std::byte[]>(data.size());
    std::memcpy(message->contents.get(), data.data(), data.size());
  }
  coll::Pending pending;
  if (synchronous || data.size() > (crosses ? kGathered : kUnasked)) {
    auto awaited = std::make_unique<Awaited>();
    message->send = awaited.get();
    pending = coll::Pending(std::move(awaited));
  }
  const double ready = from.handle(now_);
  message->receive = lanes_.meet(*message, tag);
  if (message->receive != nullptr) check_sizes(*message, *message->receive);
  if (!message->asks) {
    events_.add(ready, Happens::AtLink, message);
  } else if (message->receive != nullptr) {
    begin(*message);
  }
  return pending;
}

/// A message that asks: its question and the answer have gone there and back.
void Simulation::begin(Message& message) {
  const coll::Network& network = platform_.network;
  events_.add(now_ + 2 * (network.link_latency + network.stream_cost), Happens::AtLink, &message);
}

coll::Pending Simulation::recv(SimulatedParty& to, int from, int tag, coll::Bytes data) {
  auto awaited = std::make_unique<Awaited>();
  awaited->place = data;
  Message* const message = lanes_.meet(*awaited, from, to.rank(), tag);
  if (message == nullptr) return coll::Pending(std::move(awaited));
  check_sizes(*message, *awaited);
  message->receive = awaited.get();
  if (message->asks) begin(*message);
  if (message->arrived) {
    hand_over(*message);
    return {};
  }
  return coll::Pending(std::move(awaited));
}

/// It has come and is wanted.
void Simulation::hand_over(Message& message) {
  if (message.contents) {
    std::memcpy(message.receive->place.data(), message.contents.get(), message.size);
  }
  message.receive->done = true;
  if (message.synchronous) {
    events_.add(now_ + platform_.network.link_latency, Happens::Heard, &message);
  } else {
    delete &message;
  }
}

void Simulation::leave(Message& message) {
  if (message.synchronous || message.send == nullptr) return;
  end(*std::exchange(message.send, nullptr), message.from);
}

void Simulation::happen(const Event& event) {
  switch (event.what()) {
    case Happens::AtLink:
      return wires_.enter(*static_cast<Message*>(event.to), now_);
    case Happens::LinkFree:
      if (Message* left = wires_.freed(*static_cast<Link*>(event.to), now_)) leave(*left);
      return;
    case Happens::AtGateway:
    case Happens::AtWan:
    case Happens::AtReceiver:
      return wires_.passes(event.what(), event.to, now_);
    case Happens::Arrived: {
      auto& message = *static_cast<Message*>(event.to);
      return events_.add(party(message.to).handle(now_), Happens::Delivered, &message);
    }
    case Happens::Delivered: {
      auto& message = *static_cast<Message*>(event.to);
      message.arrived = true;
      if (message.receive == nullptr) return;
      const int rank = message.to;
      hand_over(message);
      return step(rank);
    }
    case Happens::Heard: {
      auto& message = *static_cast<Message*>(event.to);
      Awaited& send = *message.send;
      const int rank = message.from;
      delete &message;
      return end(send, rank);
    }
  }
}

}  // namespace isthmus::sim
