// How a gateway uses its links: it measures them, paces its traffic under their rate, and opens
// more streams where they help.
#include <algorithm>

#include "core/trace/trace.hpp"
#include "daemon/gateway/state.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {
namespace {

double seconds(std::chrono::microseconds time) { return static_cast<double>(time.count()) * 1e-6; }

}  // namespace

// Lets the gateway look at its links when there is something to see. That is a period after
// something moved, after a claim on a rate, or when a neighbour has been silent for too long.
void Gateway::State::plan_tuning() {
  if (closing || closed || !router.world()) return;
  core::Time next = router.next_tick();
  const bool moves = std::any_of(peers.begin(), peers.end(), [](const auto& entry) {
    return tuned(*entry.second) && !entry.second->tuning.sampling.at_rest();
  });
  const bool shared = std::any_of(shares.begin(), shares.end(),
                                  [](const auto& entry) { return entry.second.size() > 0; });
  if (moves || shared) next = std::min(next, net::now() + core::Sampling::kPeriod);
  if (next >= tune_at) return;
  tune_at = next;
  tune_timer.expires_at(std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(next)));
  tune_timer.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->closing || self->closed) return;
    self->tune_at = core::Time::max();
    self->look_at_links();
    self->plan_tuning();
  });
}

void Gateway::State::look_at_links() {
  for (const auto& [node, peer] : peers) {
    if (tuned(*peer) && peer->tuning.sampling.due(net::now())) sample(*peer);
  }
  tick_shares();
  router.tick(net::now());
  act();
}

// A link of this run that stands.
bool Gateway::State::tuned(const Peer& peer) {
  return core::is_gateway(peer.node) && peer.neighbour->run.empty() && !peer.neighbour->left &&
         !peer.driver->closed();
}

// Something may have moved over a link: while it is not at rest its samples tell.
void Gateway::State::stir(Peer& peer) {
  core::Sampling& sampling = peer.tuning.sampling;
  if (!sampling.at_rest() || !tuned(peer) || counts_of(peer) == peer.tuning.seen) return;
  sampling.stir(net::now());
  plan_tuning();
}

void Gateway::State::set_rate(Peer& peer, std::uint64_t bytes_per_second) {
  if (bytes_per_second == 0 || peer.driver->closed()) return;
  peer.tuning.rate = bytes_per_second;
  std::uint32_t segment = 0;
  for (const auto& [id, figures] : peer.driver->figures()) segment = figures.segment;
  peer.pacer = std::make_shared<net::Pacer>(io);
  peer.pacer->set_rate(net::paced(static_cast<double>(bytes_per_second), segment));
  peer.driver->pace_by(peer.pacer);
  share_rate(peer);
}

// If the kernel refuses, that is reported, and the link works as it is.
void Gateway::State::set_congestion(Peer& peer, const std::string& wanted) const {
  if (wanted.empty() || peer.driver->closed()) return;
  if (const auto error = peer.driver->set_congestion(wanted)) {
    log::warn(
        "the link to {} keeps its TCP congestion control: this host's kernel refuses '{}' "
        "({}); `isthmus doctor` shows the fix",
        name(peer.node), wanted, error.message());
  }
}

void Gateway::State::set_compress(Peer& peer, bool wanted) {
  if (wanted && !peer.driver->closed()) peer.driver->conduit().compress();
}

Gateway::State::Counts Gateway::State::counts_of(const Peer& peer) {
  return {peer.neighbour->messages, peer.neighbour->bytes, peer.driver->conduit().backlog(),
          peer.driver->streams()};
}

// A period of a link has ended.
void Gateway::State::sample(Peer& peer) {
  Tuning& tuning = peer.tuning;
  const Counts counts = counts_of(peer);
  const bool moved = std::exchange(tuning.seen, counts) != counts;
  const std::chrono::duration<double> length = tuning.sampling.take(net::now(), moved);
  using enum net::Stream::Leg;
  const bool by_tcp = !peer.driver->goes_by(Ucx) && !peer.driver->goes_by(Memory);
  if (by_tcp) tune(peer, length.count());
  note_counts(peer);
}

// Draws conclusions from the measurements of `length` seconds.
void Gateway::State::tune(Peer& peer, double length) {
  Tuning& tuning = peer.tuning;
  core::LinkPeriod period{.seconds = length};
  std::chrono::microseconds rtt{};
  auto now = peer.driver->figures();
  for (const auto& [id, figures] : now) {
    const net::TcpFigures& before = tuning.last[id];  // zeros for a new stream
    period.busy += seconds(figures.busy - before.busy);
    period.limited += seconds(figures.limited - before.limited);
    period.sent += static_cast<double>(figures.sent - before.sent);
    period.repeated += static_cast<double>(figures.repeated - before.repeated);
    period.delivered += static_cast<double>(figures.acked - before.acked);
    tuning.repeated += figures.repeated - before.repeated;
    if (figures.rtt.count() > 0) rtt = std::max(rtt, figures.rtt);
    if (figures.min_rtt.count() > 0) {
      tuning.min_rtt =
          tuning.min_rtt.count() == 0 ? figures.min_rtt : std::min(tuning.min_rtt, figures.min_rtt);
    }
  }
  tuning.last = std::move(now);
  if (rtt.count() > 0) tuning.rtt = rtt;
  tuning.best_rate = std::max(tuning.best_rate, period.delivered / period.seconds);

  const int have = static_cast<int>(peer.driver->streams());
  int good = tuning.count.next(have, period);
  const double rate = tuning.rate > 0 ? static_cast<double>(tuning.rate) : tuning.best_rate;
  peer.compressor->set_rate(rate);
  const double round_trip = seconds(tuning.min_rtt);
  const int held = core::streams_held(rate, round_trip);
  if (held > 1 && peer.driver->begins_anew()) {
    // While buffers grow they hold back more streams for a moment. More streams do not help then.
    const int filled =
        core::streams_for(rate, round_trip, static_cast<double>(net::tcp_window_ceiling()));
    good = std::clamp(good, held, std::max(core::kMostHeld, filled));
  }
  if (good <= have) return;
  if (dialled.contains(peer.node)) {
    want_streams(peer.node, good);
  } else {
    tell(peer, net::control::Link{.streams = good});
    act();
  }
}

// For the trace: the link's traffic, if it has changed.
void Gateway::State::note_counts(Peer& peer) const {
  const Counts counts = counts_of(peer);
  if (counts == peer.tuning.traced) return;
  peer.tuning.traced = counts;
  core::trace::note<core::trace::Event::LinkCounted>(config.node, peer.node, counts[0], counts[1],
                                                     counts[2]);
}

// A neighbour's word about the link between us.
void Gateway::State::learn_link(Peer& from, const net::control::Link& body) {
  set_rate(from, body.rate);
  set_congestion(from, body.congestion);
  set_compress(from, body.compress);
  if (body.patience.count() > 0) {
    from.driver->conduit().set_patience(body.patience);
    plan_tuning();
  }
  if (body.streams > 0) want_streams(from.node, body.streams);
}

// Opens what is missing, unless the grid file says how many there are to be.
void Gateway::State::want_streams(core::NodeId to, int streams) {
  const auto mine = dialled.find(to);
  const auto peer = peers.find(to);
  if (mine == dialled.end() || peer == peers.end() || mine->second.link.streams > 0) return;
  const int have = static_cast<int>(peer->second->driver->streams()) + mine->second.dialling;
  for (int i = have; i < std::min(streams, core::kMostStreams); ++i) dial(to);
}

}  // namespace isthmus::daemon
