// The streams of direct conduits that stand by for what follows a pause (docs/decisions/0019).
#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <utility>

#include "core/streams/stream_count.hpp"
#include "net/endpoint/direct.hpp"

namespace isthmus::net {
namespace {

// Streams of one process that stand by for what follows a pause, all conduits together: a process
// may have 1024 files open, as systems come.
constexpr int kAllHeld = 256;
// The number of streams that are dialled at a time. Each costs both ends about 1 ms of a core, and
// messages wait behind it. When all were dialled at once, the first alltoalls of 4 KiB among 4 + 4
// processes on two cores took 500 to 1200 ms instead of 13 (November 2026).
constexpr int kDialsAtOnce = 4;
constexpr double kUnknownRate = 125e6;  // bytes a second, of a link of which the grid says none

double seconds(core::Time time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

// The first stream makes a conduit a member of the crowd of conduits to the same cluster.
//
// That stream shows whether its kernel restarts slowly after a pause. Then other streams stand by,
// once the traffic of the conduit shows that they are needed.
void Direct::hold_streams(Peer& peer, const core::Direct& link) {
  if (link.streams > 0 || link.shm || !peer.driver->goes_only_by(Stream::Leg::Socket)) return;
  const auto figures = peer.driver->figures();
  if (figures.size() != 1) return;
  // Processes that connect all at once measure longer ones than there are (2026-11: 60 ms for 20).
  const double measured = seconds(figures.begin()->second.min_rtt);
  const double rtt = link.rtt > 0 ? std::min(link.rtt, measured) : measured;
  const core::Time round_trip(static_cast<std::int64_t>(rtt * 1e9));
  const double rate = link.rate > 0 ? link.rate : kUnknownRate;
  const auto size = [this](core::NodeId node) {
    return static_cast<std::size_t>(world_.clusters[world_.cluster_of_node(node)].size);
  };
  // The others of this process's cluster may do as it does.
  auto& crowd = crowds_[world_.cluster_of_node(peer.node)];
  if (!crowd) {
    const auto sharing = static_cast<int>(size(self_));
    crowd = std::make_shared<core::Crowd>(rate, round_trip, sharing, now());
  }
  peer.crowd = crowd;
  peer.driver->join(peer.crowd);
  if (peer.streams == 0 || !peer.driver->begins_anew()) return;
  const int each = core::streams_held_each(rate, rtt, size(self_) * size(peer.node));
  const int most = std::max(1, kAllHeld / std::max(1, links_.peers(false)));
  peer.held = std::min(each, most);
  peer.bursts.begin(now(), round_trip, peer.held);
}

// One, until those who send together have been seen.
int Direct::wanted(const Peer& peer, core::Time time) {
  if (!peer.crowd || !peer.crowd->known(time)) return 1;
  return std::min(peer.crowd->streams(time), peer.bursts.streams(time));
}

void Direct::count(Peer& peer) {
  const std::uint64_t bulk = peer.driver->conduit().counts().bulk_bytes;
  if (bulk != peer.bulk) peer.bursts.moved(now(), bulk - std::exchange(peer.bulk, bulk));
  if (dials_ < kDialsAtOnce && peer.streams < wanted(peer, now())) stand_by();
}

// One more for each peer in turn.
void Direct::stand_by() {
  const core::Time time = now();
  for (bool more = true; std::exchange(more, false);) {
    for (const auto& [node, peer] : peers_) {
      if (dials_ >= kDialsAtOnce) return;
      const bool dials = peer->streams > 0 && !peer->has_ended;
      if (!dials || peer->streams >= wanted(*peer, time)) continue;
      ++peer->streams;
      ++dials_;
      asio::co_spawn(io_, standing_by(shared_from_this(), peer), asio::detached);
      more = true;
    }
  }
}

asio::awaitable<void> Direct::standing_by(std::shared_ptr<Direct> self, PeerPtr peer) {
  co_await dialling(self, std::move(peer));
  --self->dials_;
  if (!self->closed_ && !self->leaving_) self->stand_by();
}

}  // namespace isthmus::net
