// Messages whose bytes their sender lends: read at once, or in pieces outside of the engine.
#include <algorithm>
#include <optional>

#include "core/engine/engine_state.hpp"

namespace isthmus::core {
namespace {

// The part of a lent message that its receive has room for.
std::span<std::byte> wanted(const Incoming& message) {
  if (message.op == nullptr) return {};
  const std::uint64_t room = message.op->capacity;
  return {message.op->buffer, static_cast<std::size_t>(std::min(message.body.envelope.size, room))};
}

}  // namespace

void Engine::State::read_lent(Channel& channel, Incoming& message) {
  const std::span<std::byte> to = wanted(message);
  // The memory of a service is no longer there when that has ended.
  const bool in_pieces =
      to.size() > limits.read_at_once && (message.envelope().context & kServiceContext) == 0;
  message.reading = in_pieces;
  if (in_pieces) {
    lent.push_back({message.peer, message.body.number});
  } else {
    end_lent(channel, message, to.empty() || (*channel.read)(*message.body.lent, to));
  }
}

void Engine::State::end_lent(Channel& channel, Incoming& message, bool good) {
  message.reading = false;
  if (good) {
    channel.in.take(message);
  } else {
    channel.in.grant(message.body.number);
  }
}

bool Engine::has_readings() const { return !state_->lent.empty(); }

std::optional<Engine::Reading> Engine::next_reading() {
  State& s = *state_;
  if (s.lent.empty()) return std::nullopt;
  const auto [peer, number, read] = s.lent.front();
  s.lent.pop_front();
  Channel& channel = s.channel(peer);
  const Incoming& message = *channel.in.find(number);
  const std::span<std::byte> rest = wanted(message).subspan(read);
  return Reading{.peer = peer,
                 .number = number,
                 .address = *message.body.lent + read,
                 .to = rest.first(std::min(rest.size(), s.limits.read_at_once)),
                 .reader = channel.read};
}

void Engine::end_reading(const Reading& reading, bool good) {
  State& s = *state_;
  Channel& channel = s.channel(reading.peer);
  Incoming* const found = channel.in.find(reading.number);
  if (found == nullptr) return;  // its peer has failed meanwhile
  Incoming& message = *found;
  const std::span<std::byte> all = wanted(message);
  const auto read = static_cast<std::size_t>(reading.to.data() + reading.to.size() - all.data());
  if (good && read < all.size()) {
    s.tell_prefix(*message.op, read);
    return s.lent.push_back({reading.peer, reading.number, read});
  }
  State::end_lent(channel, message, good);
  if (message.complete()) s.complete(channel, message);
  s.activate(channel);
  s.settle();
}

}  // namespace isthmus::core
