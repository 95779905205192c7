// Gateways and processes of a grid in virtual time.
#include "core/router/router_testbed.hpp"

namespace isthmus::core {

void Grid::step() {
  now_ += 1ms;
  for (std::size_t i = wires_.size(); i > 1; --i) std::swap(order_[i - 1], order_[below(i)]);
  for (const std::size_t i : order_) move(*wires_[i]);
  for (auto& p : processes_) pump(*p);
  for (auto& gate : gates_) {
    if (gate->dead || now_ < gate->tick_at) continue;
    gate->router.tick(now_);
    ++gate->ticks;
    act(*gate);
    gate->tick_at = gate->router.next_tick();
  }
  check_memory();
}

std::uint64_t Grid::number_of(const InFrame& frame) {
  std::uint64_t number = 0;
  EXPECT_GE(frame.body.size(), 8U);
  std::memcpy(&number, frame.body.data(), 8);
  return number;
}

// A conduit delivers each frame once, whatever happens to its streams. A returning or repeated
// frame counts as another one.
void Grid::note(Wire& wire, const End& at, const InFrame& frame) {
  const std::uint64_t number = number_of(frame);
  wire.crossed.insert(number);
  const auto id = std::tuple(at.conduit.get(), number, frame.flags);
  EXPECT_TRUE(delivered_.insert(id).second || frame.flags != 0)
      << "frame " << number << " twice by one conduit";
  for (const std::byte b : frame.body.subspan(8)) {
    if (b != static_cast<std::byte>(number * 7)) {
      ADD_FAILURE() << "frame " << number << " has changed";
      break;
    }
  }
}

bool Grid::take(Process& p, End& at, const InFrame& frame) {
  if (frame.kind == FrameKind::Control) {
    hear(p, at.index, frame);
    return true;
  }
  const std::uint64_t number = number_of(frame);
  if ((frame.flags & kReturned) != 0) {
    EXPECT_EQ(frame.source, p.node);
    p.came_back.insert(number);
    p.ways->keep_returned(at.index, frame);
    return true;
  }
  EXPECT_EQ(frame.destination, p.node);
  EXPECT_EQ(destined_[number], p.node);
  p.repeats = p.repeats || (frame.flags & kRepeated) != 0;
  p.arrivals.push_back({number, frame.flags});
  if (!arrived_.insert(number).second) {
    ++twice_;
    EXPECT_TRUE(p.repeats) << "frame " << number << " twice, though none was sent again";
  }
  if (!p.stalled) return true;
  p.kept.emplace_back(at.conduit.get(), frame.body.size());
  return false;
}

void Grid::pump(Process& p) {
  if (p.dead) return;
  const auto way = [&](NodeId to, bool bulk) -> Conduit* {
    const std::size_t gate = p.ways->to(world_.cluster_of_node(to), to, bulk);
    return gate == Ways::kNone ? nullptr : p.conduits[gate];
  };
  (void)p.ways->send_again(p.node, way);
  while (!p.ways->waits() && !p.to_send.empty()) {
    const ToSend next = p.to_send.front();
    Conduit* const conduit = way(next.to, next.size > kExpressBody);
    if (conduit == nullptr) return;
    p.to_send.pop_front();
    std::vector<std::byte> payload(next.size - 8, static_cast<std::byte>(next.number * 7));
    OutFrame frame;
    frame.kind = FrameKind::Piece;
    frame.source = p.node;
    frame.destination = next.to;
    std::memcpy(frame.head.data(), &next.number, 8);
    frame.head_size = 8;
    frame.payload = payload;
    conduit->submit(frame);
  }
}

void Grid::lose_gate(Process& p, std::size_t index) {
  if (!p.dead && !p.ways->lose_gate(index))
    fail("rank " + std::to_string(p.node) + " has no gateway left");
}

// Control frames: kind, cluster, process, ask, sentence.
void Grid::tell(Conduit& conduit, const Router::Action& action) {
  std::string text{static_cast<char>(action.what), static_cast<char>(action.cluster),
                   static_cast<char>(action.process), static_cast<char>(action.ask)};
  text += action.sentence;
  OutFrame frame;
  frame.kind = FrameKind::Control;
  frame.source = conduit.config().self;
  frame.destination = conduit.config().peer;
  frame.payload = std::as_bytes(std::span(text));
  conduit.submit(frame);
}

Router::Action Grid::told(const InFrame& frame) {
  const std::string text(reinterpret_cast<const char*>(frame.body.data()), frame.body.size());
  Router::Action action{.what = static_cast<Router::Action::What>(text.at(0))};
  action.cluster = static_cast<unsigned char>(text.at(1));
  if (text.at(2) != static_cast<char>(-1)) action.process = static_cast<unsigned char>(text.at(2));
  action.ask = text.at(3) != 0;
  action.sentence = text.substr(4);
  return action;
}

void Grid::hear(Process& p, std::size_t index, const InFrame& frame) {
  using What = Router::Action::What;
  const Router::Action action = told(frame);
  if (action.what == What::Lost && !lose(p, index, action)) fail(action.sentence);
  if (action.what == What::Heard) p.ways->heard(index, action.cluster);
  if (action.what != What::Silent) return;
  // An answer, in the same form: another of its gateways reaches the cluster.
  const bool reached = p.ways->fall_silent(index, action.cluster);
  if (reached && action.ask) tell(*p.conduits[index], action);
}

bool Grid::lose(Process& p, std::size_t index, const Router::Action& lost) {
  return lost.process == kNobody ? p.ways->lose(index, lost.cluster)
                                 : p.ways->lose_process(index, lost.cluster, lost.process);
}

void Grid::hear(Gate& gate, Router::Neighbour& from, const InFrame& frame) {
  const Router::Action action = told(frame);
  if (is_gateway(from.node) && action.process != kNobody) {
    gate.router.learn_cut_off(from, action.process, action.sentence);
  } else if (is_gateway(from.node)) {
    gate.router.learn_lost(from, action.cluster, action.sentence);
  } else {
    gate.router.learn_other(action.cluster);
  }
}

void Grid::act(Gate& gate) {
  using What = Router::Action::What;
  while (const auto action = gate.router.poll()) {
    switch (action->what) {
      case What::Flush:
        gate.router.progress(*action->neighbour);
        break;
      case What::Lost:
      case What::Silent:
      case What::Heard:
        for (auto& wire : wires_) {
          for (int end = 0; end < 2; ++end) {
            if (wire->end[end].gate != &gate || !wire->end[end].neighbour->open()) continue;
            if (!wire->local && action->what != What::Lost) continue;
            tell(*wire->end[end].conduit, *action);
          }
        }
        break;
      case What::Waiting:
        ++gate.waits;
        break;
      case What::Resumed:
        ++gate.resumed;
        break;
      case What::Warn:
        gate.warnings.push_back(action->sentence);
        break;
      case What::Suspect:
        gate.suspects.insert(action->cluster);
        break;
      case What::Fail:
        fail(action->sentence);
        break;
    }
  }
}

void Grid::fail(const std::string& sentence) {
  if (failure_.empty()) failure_ = sentence;
}

// Frames that wait in a gateway are charged to the windows of its neighbours, or were in the buffer
// of a conduit that is lost.
void Grid::check_memory() {
  for (auto& gate : gates_) {
    if (gate->dead) continue;
    std::size_t bound = 0;
    for (auto& wire : wires_) {
      for (const End& end : wire->end) {
        if (end.gate != gate.get()) continue;
        const auto& config = end.conduit->config();
        bound += config.window;
        if (!end.conduit->dead().empty()) bound += config.buffer + config.window;
        // Its buffer may be exceeded by the frame being taken, and by frames that must get through.
        if (end.conduit->dead().empty()) {
          ASSERT_LE(end.conduit->buffered(), config.buffer + 2 * kMaxBody);
        }
      }
    }
    ASSERT_LE(gate->router.held().second, bound);
  }
}

}  // namespace isthmus::core
