#include "daemon/gateway/tuning.hpp"

#include <algorithm>
#include <utility>

#include "core/trace/trace.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {

Tuning::Tuning(Common& gateway, Sharing& sharing)
    : gateway_(gateway), sharing_(sharing), timer_(gateway.io) {}

std::shared_ptr<core::Compressor> Tuning::begin(core::NodeId node) {
  Measured& measured = measured_[node];
  if (measured.compressor) {  // of a conduit that is dead
    measured.figures.forget_streams();
    measured.sampling.stir(net::now());
  }
  return measured.compressor = std::make_shared<compress::FrameCompressor>();
}

void Tuning::plan() {
  if (gateway_.closing || gateway_.closed || !gateway_.router.world()) return;
  core::Time next = gateway_.router.next_tick();
  const bool moves = std::any_of(measured_.begin(), measured_.end(), [this](const auto& entry) {
    const Peer* const peer = gateway_.peers.find(entry.first);
    return peer != nullptr && stands(*peer) && !entry.second.sampling.at_rest();
  });
  if (moves || sharing_.active()) next = std::min(next, net::now() + core::Sampling::kPeriod);
  if (next >= look_at_) return;
  look_at_ = next;
  timer_.expires_at(std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(next)));
  timer_.async_wait(gateway_.guarded([this](const std::error_code& error) {
    if (error || gateway_.closing || gateway_.closed) return;
    look_at_ = core::Time::max();
    look();
    plan();
  }));
}

void Tuning::look() {
  for (auto& [node, measured] : measured_) {
    Peer* const peer = gateway_.peers.find(node);
    if (peer != nullptr && stands(*peer) && measured.sampling.due(net::now())) {
      sample(*peer, measured);
    }
  }
  sharing_.tick();
  gateway_.router.tick(net::now());
  gateway_.act();
}

// A link of this run that is there.
bool Tuning::stands(const Peer& peer) {
  return !peer.is_process() && !peer.is_junction() && peer.open();
}

void Tuning::stir(Peer& peer) {
  if (!stands(peer)) return;
  Measured& measured = measured_[peer.node];
  if (!measured.sampling.at_rest() || counts_of(peer) == measured.seen) return;
  measured.sampling.stir(net::now());
  plan();
}

void Tuning::set_rate(Peer& link, std::uint64_t rate) {
  Measured& measured = measured_[link.node];
  measured.figures.set_rate(rate);
  std::uint32_t segment = 0;
  for (const auto& [id, figures] : link.driver->figures()) segment = figures.segment;
  measured.pacer = std::make_shared<net::Pacer>(gateway_.io);
  measured.pacer->set_rate(net::paced(static_cast<double>(rate), segment));
  link.driver->pace_by(measured.pacer);
  sharing_.share(link, measured.pacer);
}

void Tuning::use(Peer& link, std::uint64_t rate, const std::string& congestion, bool compress) {
  if (link.driver->closed()) return;
  if (rate > 0) set_rate(link, rate);
  if (!congestion.empty()) {
    if (const auto error = link.driver->set_congestion(congestion)) {
      log::warn(
          "the link to {} keeps its TCP congestion control: this host's kernel refuses '{}' "
          "({}); `isthmus doctor` shows the fix",
          gateway_.name(link.node), congestion, error.message());
    }
  }
  if (compress) link.conduit().compress();
}

void Tuning::learn(Peer& link, const net::control::Link& body) {
  use(link, body.rate, body.congestion, body.compress);
  if (body.patience.count() > 0) {
    link.conduit().set_patience(body.patience);
    plan();
  }
  if (body.streams > 0) opener_->want_streams(link.node, body.streams);
}

Tuning::Counts Tuning::counts_of(const Peer& peer) {
  return {peer.neighbour->messages, peer.neighbour->bytes, peer.conduit().backlog(),
          peer.driver->streams()};
}

// A period of a link has ended.
void Tuning::sample(Peer& link, Measured& measured) {
  const Counts counts = counts_of(link);
  const bool moved = std::exchange(measured.seen, counts) != counts;
  const std::chrono::duration<double> length = measured.sampling.take(net::now(), moved);
  if (link.driver->goes_only_by(net::Stream::Leg::Socket)) {
    count_streams(link, measured, length.count());
  }
  note_counts(link, measured);
}

void Tuning::count_streams(Peer& link, Measured& measured, double length) {
  const int have = static_cast<int>(link.driver->streams());
  const int good = measured.figures.take({link.driver->figures(), have, link.driver->begins_anew(),
                                          static_cast<double>(net::tcp_window_ceiling())},
                                         length);
  measured.compressor->set_rate(measured.figures.rate());
  if (good <= have || opener_->want_streams(link.node, good)) return;
  gateway_.peers.tell(link, net::control::Link{.streams = good});
  gateway_.act();
}

// For the trace: the link's traffic, if it has changed.
void Tuning::note_counts(const Peer& link, Measured& measured) const {
  const Counts counts = counts_of(link);
  if (counts == measured.traced) return;
  measured.traced = counts;
  core::trace::note<core::trace::Event::LinkCounted>(gateway_.config.node, link.node, counts[0],
                                                     counts[1], counts[2]);
}

std::vector<LinkCount> Tuning::counts() const {
  std::vector<LinkCount> counts;
  for (const auto& [node, measured] : measured_) {
    const Peer* const peer = gateway_.peers.find(node);
    if (peer == nullptr) continue;
    const auto& sent = peer->conduit().counts();
    LinkCount count{gateway_.config.node,   node,           peer->neighbour->messages, sent.frames,
                    peer->neighbour->bytes, sent.wire_bytes};
    count.streams = static_cast<int>(peer->driver->streams());
    count.ucx = peer->driver->goes_by(net::Stream::Leg::Ucx);
    count.memory = peer->driver->goes_by(net::Stream::Leg::Memory);
    count.rtt = measured.figures.rtt();
    count.min_rtt = measured.figures.min_rtt();
    count.best_rate = measured.figures.best_rate();
    count.repeated = measured.figures.repeated();
    count.waiting = peer->conduit().backlog();
    count.silence =
        std::chrono::duration_cast<std::chrono::milliseconds>(peer->neighbour->silence.length);
    counts.push_back(count);
  }
  return counts;
}

}  // namespace isthmus::daemon
