#include "core/router/held_frames.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/wire/packet.hpp"

namespace isthmus::core {

HeldFrame::HeldFrame(NodeId neighbour, InFrame held, std::uint16_t hops_left)
    : from(neighbour), frame(std::move(held)), hops(hops_left) {
  if (frame.memory) return;
  frame.memory = packet_for(frame.body.size());
  if (!frame.body.empty()) {
    std::memcpy(frame.memory->body().data(), frame.body.data(), frame.body.size());
  }
  frame.body = frame.memory->body();
}

std::pair<std::size_t, std::size_t> HeldFrames::size() const {
  std::pair<std::size_t, std::size_t> sum{};
  for (const auto& [from, queue] : queues_) {
    sum.first += queue.size();
    for (const HeldFrame& held : queue) sum.second += held.frame.body.size();
  }
  return sum;
}

void HeldFrames::add(HeldFrame held) {
  auto& queue = queues_[held.from];
  if (queue.empty()) turns_.push_back(held.from);
  queue.push_back(std::move(held));
}

HeldFrame HeldFrames::next() {
  const NodeId from = turns_.front();
  turns_.pop_front();
  auto& queue = queues_[from];
  HeldFrame held = std::move(queue.front());
  queue.pop_front();
  if (queue.empty()) {
    queues_.erase(from);
  } else {
    turns_.push_back(from);
  }
  return held;
}

std::vector<HeldFrame> HeldFrames::take_all() {
  std::vector<HeldFrame> all;
  for (auto& [from, queue] : queues_)
    std::move(queue.begin(), queue.end(), std::back_inserter(all));
  queues_.clear();
  turns_.clear();
  return all;
}

std::vector<HeldFrame> HeldFrames::take_if(const std::function<bool(const HeldFrame&)>& wanted) {
  std::vector<HeldFrame> taken;
  for (HeldFrame& held : take_all()) {
    if (wanted(held)) {
      taken.push_back(std::move(held));
    } else {
      add(std::move(held));
    }
  }
  return taken;
}

void HeldFrames::offer(const std::function<bool(const HeldFrame&)>& take) {
  for (auto entry = queues_.begin(); entry != queues_.end();) {
    auto& [from, queue] = *entry;
    while (!queue.empty() && take(queue.front())) queue.pop_front();
    if (queue.empty()) {
      std::erase(turns_, from);
      entry = queues_.erase(entry);
    } else {
      ++entry;
    }
  }
}

void HeldFrames::disown(NodeId from) {
  auto queue = queues_.extract(from);
  if (queue.empty()) return;
  std::erase(turns_, from);
  for (HeldFrame& held : queue.mapped()) {
    held.from = kNobody;
    add(std::move(held));
  }
}

}  // namespace isthmus::core
