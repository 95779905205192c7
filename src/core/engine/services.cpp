#include "core/engine/services.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace isthmus::core {

void Services::serve(std::uint64_t context, Service& service) {
  Served& served = contexts_[context];
  if (served.service != nullptr || served.ended) {
    throw std::logic_error("a context is served by one service at a time");
  }
  served.service = &service;
  for (auto& [peer, queue] : served.queues) take_in(served, queue);
}

void Services::end(std::uint64_t context) {
  const auto found = contexts_.find(context);
  if (found == contexts_.end()) return;
  Served& served = found->second;
  served.service = nullptr;
  served.ended = true;
  for (auto& [peer, queue] : served.queues) {
    for (Incoming* message : std::exchange(queue.waiting, {})) bind_(*message, nullptr);
  }
  forget(context);
}

// Messages under way still have their memory here.
void Services::forget(std::uint64_t context) {
  const auto found = contexts_.find(context);
  if (found == contexts_.end() || !found->second.ended) return;
  const auto& queues = found->second.queues;
  if (std::all_of(queues.begin(), queues.end(),
                  [](const auto& entry) { return entry.second.taken.empty(); })) {
    contexts_.erase(found);
  }
}

bool Services::add(Incoming& message) {
  if (message.envelope().size > kMostServiceBytes) return false;
  message.stage = Stage::Unexpected;
  Served& served = contexts_[message.envelope().context];
  Queue& queue = served.queues[message.peer];
  queue.waiting.push_back(&message);
  if (served.service != nullptr) take_in(served, queue);
  return true;
}

Service* Services::ready_for(std::uint64_t context, NodeId peer) const {
  const auto found = contexts_.find(context);
  if (found == contexts_.end()) return nullptr;
  const auto queue = found->second.queues.find(peer);
  const bool free = queue == found->second.queues.end() ||
                    (queue->second.waiting.empty() && queue->second.taken.empty());
  return free ? found->second.service : nullptr;
}

void Services::take_in(Served& served, Queue& queue) {
  while (served.service != nullptr && !queue.waiting.empty()) {
    Incoming& message = *queue.waiting.front();
    const auto size = static_cast<std::size_t>(message.envelope().size);
    if (!queue.taken.empty() && queue.bytes + size > kMostServiceBytes) return;
    auto arrival = std::make_unique<Arrival>();
    arrival->memory = KeptBlock(size);
    arrival->buffer = arrival->memory.get();
    arrival->capacity = size;
    arrival->then = this;
    arrival->from = message.peer;
    queue.bytes += size;
    queue.waiting.pop_front();
    RecvOp* const op = arrival.get();
    queue.taken.push_back(std::move(arrival));
    bind_(message, op);
  }
}

std::size_t Services::fail(NodeId peer) {
  std::size_t receiving = 0;
  std::vector<std::uint64_t> contexts;
  for (auto& [context, served] : contexts_) {
    const auto queue = served.queues.find(peer);
    if (queue == served.queues.end()) continue;
    for (const auto& arrival : queue->second.taken) receiving += arrival->done() ? 0U : 1U;
    served.queues.erase(queue);
    contexts.push_back(context);
  }
  for (const std::uint64_t context : contexts) forget(context);
  return receiving;
}

// A service may send, and so add contexts.
void Services::tell_failed(NodeId first, NodeId count) {
  std::vector<Service*> all;
  for (const auto& [context, served] : contexts_) {
    if (served.service != nullptr) all.push_back(served.service);
  }
  for (Service* const each : all) each->fail(first, count);
}

void Services::over(Op& op) {
  auto& arrival = static_cast<Arrival&>(op);
  arrival.whole = true;
  const std::uint64_t context = arrival.envelope.context;
  const NodeId peer = arrival.from;
  Served& served = contexts_.at(context);
  Queue& queue = served.queues[peer];
  while (!queue.taken.empty() && queue.taken.front()->whole) {
    const std::unique_ptr<Arrival> next = std::move(queue.taken.front());
    queue.taken.pop_front();
    queue.bytes -= next->capacity;
    const std::span<const std::byte> bytes(next->buffer, next->capacity);
    if (served.service != nullptr && !served.service->take(peer, next->envelope, bytes)) {
      broken_ = true;
    }
  }
  take_in(served, queue);
  forget(context);
}

}  // namespace isthmus::core
