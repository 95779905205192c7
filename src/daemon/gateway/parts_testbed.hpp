// A gateway whose parts are tested apart: its peers are connected to nothing, and show what they
// were sent.
#pragma once

#include <asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/gateway/common.hpp"
#include "net/control/share_body.hpp"

namespace isthmus::daemon {

/// Gateway 0 of cluster "a" (ranks 0 and 1); gateway 1 is of "b" (rank 2), gateway 2 only forwards.
struct PartsTestbed final : Common, PeerKind, GatewayUser {
  static constexpr core::NodeId kSelf = core::kFirstGateway, kOther = kSelf + 1, kRelay = kSelf + 2;

  explicit PartsTestbed(asio::io_context& context, bool survives = false)
      : Common(
            context,
            {.node = kSelf, .cluster = "a", .job = "job", .secret = "secret", .survives = survives},
            *this) {}

  static core::World world() {
    core::World world;
    world.clusters = {{"a", 0, 2}, {"b", 2, 1}};
    world.gateways = {{kSelf, {0}}, {kOther, {1}}, {kRelay, {}}};
    world.direct = {{0, 1}};
    world.direct.back().rate = 1e6;
    return world;
  }

  void act() override {
    while (router.poll()) {
    }
  }
  bool fail(const net::ControlBody& news, const std::string& sentence,
            core::NodeId except) override {
    if (std::exchange(faulted, true)) return false;
    failure = sentence;
    peers.tell_all(news, except);
    return true;
  }
  void plan_tuning() override { ++plans; }
  void check_closed() override {}
  bool frame(Peer&, const core::InFrame&, std::uint16_t) override { return true; }
  void progress(Peer&) override {}
  void connected(Peer&) override {}
  void lost(Peer&, const net::Loss&) override {}
  void ended(Peer&) override {}
  void dead(Peer&, const std::string&) override {}

  void here(const std::string& text) override { told_here = text; }
  void fault(const std::string&, int code) override { told_fault = code; }
  void suspect(core::NodeId, std::size_t cluster, const std::string& text) override {
    told_suspicions.emplace_back(cluster, text);
  }
  void abandoned() override { told_abandoned = true; }
  void all_done() override { ++told_all_done; }

  Peer& add(core::NodeId node) { return peers.add(node, peers.settings(node), *this); }

  /// The frames for a peer since the last call.
  std::vector<core::InFrame> sent(Peer& peer) {
    End& end = ends_[peer.node];
    if (!end.conduit) {
      core::ConduitConfig settings = peers.settings(kSelf);
      settings.self = peer.node;
      end.conduit = std::make_unique<core::Conduit>(std::move(settings), core::Time::zero());
      end.conduit->stream_up(core::Time::zero());
      end.stream = peer.conduit().stream_up(core::Time::zero());
    }
    std::vector<core::InFrame> frames;
    end.bodies.clear();
    for (int i = 0; i < 3; ++i) {  // the first brings Hello
      pass(peer.conduit(), end.stream, *end.conduit, 1, [&](const core::InFrame& frame, auto) {
        end.bodies.emplace_back(frame.body.begin(), frame.body.end());
        frames.push_back(frame);
        frames.back().body = end.bodies.back();
        return true;
      });
      pass(*end.conduit, 1, peer.conduit(), end.stream, [](const auto&, auto) { return true; });
    }
    return frames;
  }
  std::vector<net::ControlBody> told(Peer& peer) {
    std::vector<net::ControlBody> bodies;
    for (const core::InFrame& frame : sent(peer)) {
      if (const auto body = net::decode_control(frame.body)) bodies.push_back(*body);
    }
    return bodies;
  }
  /// The parts of a rate that it may have.
  std::vector<double> shares(Peer& peer) {
    std::vector<double> parts;
    for (const core::InFrame& frame : sent(peer)) {
      if (const auto share = net::decode_share(frame.body)) parts.push_back(share->part);
    }
    return parts;
  }

  std::string failure;
  int plans = 0;
  std::string told_here;
  int told_fault = 0;
  std::vector<std::pair<std::size_t, std::string>> told_suspicions;
  int told_all_done = 0;
  bool told_abandoned = false;

 private:
  struct End {
    std::unique_ptr<core::Conduit> conduit;
    core::StreamId stream = 0;
    std::deque<std::vector<std::byte>> bodies;
  };

  static void pass(core::Conduit& from, core::StreamId by, core::Conduit& to, core::StreamId at,
                   const core::Conduit::Sink& sink) {
    std::vector<core::PacketPtr> packets;
    from.output(by, core::Time::zero(), std::size_t{1} << 20, packets);
    for (const core::PacketPtr& packet : packets) {
      to.input(at, packet->bytes(), core::Time::zero(), sink);
    }
  }

  std::map<core::NodeId, End> ends_;
};

}  // namespace isthmus::daemon
