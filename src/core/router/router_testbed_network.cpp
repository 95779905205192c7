// The network of a grid in virtual time: streams that carry, delay and lose bytes.
#include "core/router/router_testbed.hpp"

namespace isthmus::core {

void Grid::cut_off(int rank, std::size_t gate) {
  for (auto& wire : wires_) {
    if (wire->end[0].process != &process(rank) || wire->end[1].gate != gates_[gate].get()) continue;
    wire->broken = true;
    drop(*wire);
    lose_gate(process(rank), wire->end[0].index);
    wire->end[1].conduit->fail("goes on without this gateway");
    report(*wire, wire->end[1]);
  }
}

void Grid::kill_gateway(std::size_t gate) {
  gates_[gate]->dead = true;
  for (auto& wire : wires_) {
    if (wire->end[0].gate != gates_[gate].get() && wire->end[1].gate != gates_[gate].get()) {
      continue;
    }
    wire->broken = true;
    drop(*wire);
    End& other = wire->end[wire->end[0].gate == gates_[gate].get() ? 1 : 0];
    if (other.process != nullptr) lose_gate(*other.process, other.index);
  }
}

void Grid::kill_cluster(std::size_t cluster) {
  for (auto& process : processes_) {
    if (world_.cluster_of_node(process->node) == cluster) process->dead = true;
  }
  for (std::size_t gate = 0; gate < gates_.size(); ++gate) {
    const auto& of = world_.gateways[gate].clusters;
    if (of.size() == 1 && of.front() == cluster) kill_gateway(gate);
  }
}

void Grid::tell_failed(std::size_t cluster) {
  for (auto& gate : gates_) {
    if (gate->dead) continue;
    gate->router.forget(cluster);
    act(*gate);
  }
}

void Grid::move(Wire& wire) {
  for (End& end : wire.end) {
    if (!end.gate || !end.gate->dead) tick(wire, end);
  }
  std::size_t left[2] = {wire.rate, wire.rate};
  for (Stream& stream : wire.streams) {
    if (!stream.up) {
      if (now_ >= stream.again) connect(wire, stream);
      continue;
    }
    if (!wire.local && chance(setup_.cut)) {
      drop(wire, stream);
      continue;
    }
    for (int end = 0; end < 2 && !wire.silent; ++end) {
      write(wire, stream, end, left[end]);
      if (stream.up) read(wire, stream, end);
    }
  }
  for (End& end : wire.end) {
    if (end.gate != nullptr && !end.gate->dead) {
      end.gate->router.progress(*end.neighbour);
      act(*end.gate);
    }
  }
}

void Grid::tick(Wire& wire, End& end) {
  const auto due = end.conduit->deadline();
  if (due && *due <= now_) {
    for (const StreamId id : end.conduit->tick(now_)) {
      for (Stream& stream : wire.streams) {
        if (stream.up && stream.id[&end - wire.end] == id) drop(wire, stream);
      }
    }
  }
  report(wire, end);
}

// Reports as a driver does to its owner.
void Grid::report(Wire& wire, End& end) {
  if (end.conduit->dead().empty() || std::exchange(end.told_dead, true)) return;
  drop(wire);
  if (end.gate == nullptr) return;
  end.gate->router.lost(*end.neighbour, "the link from " + world_.name_of(end.gate->node) + " to " +
                                            world_.name_of(end.neighbour->node) +
                                            " is lost: the other end " + end.conduit->dead());
  act(*end.gate);
}

void Grid::connect(Wire& wire, Stream& stream) {
  if (wire.broken || !wire.end[0].conduit->dead().empty() || !wire.end[1].conduit->dead().empty()) {
    return;
  }
  stream = {};
  stream.up = true;
  for (int end = 0; end < 2; ++end) stream.id[end] = wire.end[end].conduit->stream_up(now_);
}

void Grid::drop(Wire& wire) {
  for (Stream& stream : wire.streams) drop(wire, stream);
}

void Grid::drop(Wire& wire, Stream& stream) {
  if (!std::exchange(stream.up, false)) return;
  stream.again = now_ + Time(1ms) * static_cast<int>(1 + below(200));
  for (int end = 0; end < 2; ++end) wire.end[end].conduit->stream_down(stream.id[end]);
}

void Grid::write(Wire& wire, Stream& stream, int end, std::size_t& left) {
  auto& unsent = stream.unsent[end];
  if (unsent.empty()) {
    std::vector<PacketPtr> packets;
    wire.end[end].conduit->output(stream.id[end], now_, std::max<std::size_t>(1, left), packets);
    for (const auto& packet : packets) {
      unsent.insert(unsent.end(), packet->bytes().begin(), packet->bytes().end());
    }
  }
  const std::size_t n = std::min(unsent.size(), left);
  if (n == 0) return;
  left -= n;
  auto& line = stream.wire[1 - end];
  Time at = now_;
  if (!wire.local) at += Time(below(static_cast<std::size_t>(setup_.delay.count()) + 1));
  if (!line.empty()) at = std::max(at, line.back().at);
  const auto stop = unsent.begin() + static_cast<std::ptrdiff_t>(n);
  line.push_back({at, {unsent.begin(), stop}});
  unsent.erase(unsent.begin(), stop);
}

// The body of the first frame in memory of its own, as gateways read it, if it has come.
std::shared_ptr<Packet> Grid::apart(const End& at, StreamId id, std::vector<std::byte>& unread) {
  if (at.gate == nullptr || unread.size() < kHeaderSize) return nullptr;
  const auto frame = at.conduit->arriving(id, std::span(unread).first(kHeaderSize));
  if (!frame || frame->placed == 0 || unread.size() < kHeaderSize + frame->placed) return nullptr;
  auto memory = packet_for(frame->placed);
  const auto begin = unread.begin() + kHeaderSize;
  const auto stop = begin + static_cast<std::ptrdiff_t>(frame->placed);
  std::copy(begin, stop, memory->body().begin());
  unread.erase(begin, stop);
  return memory;
}

void Grid::read(Wire& wire, Stream& stream, int end) {
  auto& line = stream.wire[end];
  auto& unread = stream.unread[end];
  while (!line.empty() && line.front().at <= now_) {
    unread.insert(unread.end(), line.front().bytes.begin(), line.front().bytes.end());
    line.pop_front();
  }
  if (unread.empty()) return;
  End& at = wire.end[end];
  auto memory = apart(at, stream.id[end], unread);
  const std::size_t placed = memory ? memory->body().size() : 0;
  const auto sink = [&](const InFrame& frame, std::uint16_t hops) {
    if (is_routed(frame.kind)) note(wire, at, frame);
    if (at.process != nullptr) return take(*at.process, at, frame);
    if (frame.kind != FrameKind::Control) return at.gate->router.take(*at.neighbour, frame, hops);
    hear(*at.gate, *at.neighbour, frame);
    return true;
  };
  const auto result =
      at.conduit->input(stream.id[end], unread, now_, sink, placed, std::move(memory));
  EXPECT_EQ(result.outcome, Conduit::Outcome::Good) << result.reason;
  unread.erase(unread.begin(), unread.begin() + static_cast<std::ptrdiff_t>(result.used));
}

}  // namespace isthmus::core
