// Peers that have failed, and operations that end before their messages do.
#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "core/engine/engine_state.hpp"

namespace isthmus::core {

void Engine::State::fail(RecvOp& op, const Incoming* message) {
  op.envelope = {.context = op.context, .source = op.source, .tag = op.tag, .size = 0};
  if (message != nullptr) op.envelope = message->envelope();
  op.received = 0;
  op.error = OpError::Failed;
  --outstanding;
  ++events;
  if (op.then != nullptr) over.push_back(&op);
  op.state.store(OpState::Done, std::memory_order_release);
}

void Engine::State::fail(SendOp& op) {
  op.error = OpError::Failed;
  finish(op);
}

void Engine::State::fail(Channel& channel) {
  const std::size_t before = channel.out.gathered();
  for (SendOp* const op : channel.out.fail()) fail(*op);
  gathered -= before;
  if (channel.reply_links.linked) replies.erase(channel);
  if (channel.envelope_links.linked) envelopes.erase(channel);
  if (channel.piece_links.linked) pieces.erase(channel);

  outstanding -= services.fail(channel.peer);
  std::erase_if(lent, [&](const LentMessage& each) { return each.peer == channel.peer; });
  channel.in.forget_if([&](Incoming& message) {
    const bool served = (message.envelope().context & kServiceContext) != 0;
    if (!served && message.complete() && message.stage != Stage::Early &&
        message.stage != Stage::Announced) {
      return false;  // it can still be received
    }
    switch (message.stage) {
      case Stage::Early:
      case Stage::Announced:
        break;
      case Stage::Unexpected:
        if (!served) matching.remove_unexpected(message);
        break;
      case Stage::Extracted:
        return false;  // its owner has its name
      case Stage::Matched:
        if (!served && message.op != nullptr) fail(*message.op, &message);
        break;
    }
    return true;
  });
}

void Engine::State::fail_posted() {
  const auto lost = matching.unpost_if(
      [this](const RecvOp& op) { return op.from != kNobody && has_failed(op.from); });
  for (RecvOp* const op : lost) {
    if (op->tell != nullptr) op->tell->add(*op);
    fail(*op);
  }
}

void Engine::State::end_bound(Channel& channel, Incoming& message) {
  if (message.complete()) return complete(channel, message);
  if (message.op != nullptr) fail(*message.op, &message);
  channel.in.erase(message);
}

void Engine::fail(NodeId first, NodeId count) {
  State& s = *state_;
  payload_copied();
  s.failed.emplace_back(first, count);
  for (auto& [peer, channel] : s.channels) {
    if (peer >= first && peer - first < count) s.fail(channel);
  }
  s.fail_posted();
  s.services.tell_failed(first, count);
  ++s.events;
  s.settle();
}

bool Engine::failed(NodeId peer) const { return state_->has_failed(peer); }

void Engine::State::forget(Op& op) {
  if (op.state.load(std::memory_order_relaxed) == OpState::Active) {
    --outstanding;
    ++events;
  }
  std::erase(over, &op);
  op.state.store(OpState::Idle, std::memory_order_relaxed);
}

void Engine::give_up(SendOp& op) {
  State& s = *state_;
  if (op.state.load(std::memory_order_relaxed) == OpState::Active) {
    if (op.lent) throw std::logic_error("a send that lends its memory cannot be given up");
    if (op.ready < op.data.size() && !op.spoilt) {
      throw std::logic_error("a send whose bytes are not all there cannot be given up");
    }
    payload_copied();
  }
  if (op.state.load(std::memory_order_relaxed) == OpState::Active) {
    Posted& kept =
        s.posted.emplace_back(s.posted, std::vector<std::byte>(op.data.begin(), op.data.end()));
    kept.place = std::prev(s.posted.end());
    kept.peer = op.peer;
    kept.envelope = op.envelope;
    kept.synchronous = op.synchronous;
    kept.before = op.before;
    kept.behind = op.behind;
    kept.link = op.link;
    kept.number = op.number;
    kept.sent = op.sent;
    kept.ahead = op.ahead;
    kept.waits = op.waits;
    kept.granted = op.granted;
    kept.spoilt = std::move(op.spoilt);
    kept.state.store(OpState::Active, std::memory_order_relaxed);
    ++s.outstanding;
    s.channel(op.peer).out.replace(op, kept);
  }
  s.forget(op);
  s.settle();
}

void Engine::give_up(RecvOp& op) {
  State& s = *state_;
  if (op.state.load(std::memory_order_relaxed) == OpState::Active && !s.matching.unpost(op)) {
    for (auto& [peer, channel] : s.channels) {
      Incoming* const message = channel.in.find(op);
      if (message == nullptr) continue;
      if (message->reading)
        throw std::logic_error("a receive that reads memory cannot be given up");
      message->op = nullptr;
      break;
    }
  }
  s.forget(op);
  s.settle();
}

}  // namespace isthmus::core
