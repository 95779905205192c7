// The neighbours of a gateway and their conduits: processes, other gateways and ends of junctions.
// A type for each kind decides when one comes and goes (processes.hpp, links.hpp, junctions.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/router/router.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/control/control_body.hpp"
#include "net/door/listener.hpp"

namespace isthmus::daemon {

struct Peer;

/// Hears from the conduits of one kind of peers, on the gateway's thread. A slot may submit to any
/// peer and call the gateway's user. It does not block or throw.
class PeerKind {
 public:
  /// A stream has heard the peer's Hello.
  virtual void connected(Peer& peer) = 0;
  /// A stream is gone, and the peer has not said Bye.
  virtual void lost(Peer& peer, const net::Loss& loss) = 0;
  /// The peer has said Bye.
  virtual void ended(Peer& peer) = 0;
  /// The conduit has given up: the peer `reason`.
  virtual void dead(Peer& peer, const std::string& reason) = 0;

 protected:
  ~PeerKind() = default;
};

/// Takes the frames of all peers. The rules are those of PeerKind.
class PeerTraffic {
 public:
  /// As core::Conduit::Sink.
  virtual bool frame(Peer& from, const core::InFrame& frame, std::uint16_t hops) = 0;
  /// Frames may have come, or there is room for more.
  virtual void progress(Peer& peer) = 0;

 protected:
  ~PeerTraffic() = default;
};

struct Peer final : net::ConduitUser {
  explicit Peer(core::NodeId number, PeerTraffic& frames, PeerKind& its_kind)
      : node(number), kind(&its_kind), traffic(frames) {}

  core::NodeId node;
  PeerKind* kind;
  std::shared_ptr<net::ConduitDriver> driver;
  core::Router::Neighbour* neighbour = nullptr;
  std::string where;       // of its latest stream
  net::Stream::Leg leg{};  // of the latest stream that was accepted
  bool exposed = false;    // that is not encrypted, and from another host or by UCX

  bool is_process() const { return !core::is_gateway(node); }
  bool is_junction() const { return !neighbour->run.empty(); }
  bool open() const { return !neighbour->left && !driver->closed(); }
  core::Conduit& conduit() const { return driver->conduit(); }
  void came_by(const net::Listener::Newcomer& newcomer);
  std::shared_ptr<net::ConduitDriver> drive(asio::io_context& io, core::ConduitConfig settings);

 private:
  bool frame(const core::InFrame& frame, std::uint16_t hops) override {
    return traffic.frame(*this, frame, hops);
  }
  void progress() override { traffic.progress(*this); }
  void connected() override { kind->connected(*this); }
  void lost(const net::Loss& loss) override { kind->lost(*this, loss); }
  void ended() override { kind->ended(*this); }
  void dead(const std::string& reason) override { kind->dead(*this, reason); }

  PeerTraffic& traffic;
};

/// Peers stay until the gateway ends, so references to them stay valid.
class Peers {
 public:
  Peers(asio::io_context& io, core::Router& router, core::NodeId self, PeerTraffic& traffic)
      : io_(io), router_(router), self_(self), traffic_(traffic) {}

  /// The settings of a conduit to `node`; its owner adds what belongs to the kind.
  core::ConduitConfig settings(core::NodeId node) const;
  Peer& add(core::NodeId node, core::ConduitConfig settings, PeerKind& kind);
  /// As `add`, for a gateway of another run.
  Peer& add_junction(core::NodeId node, core::ConduitConfig settings, const std::string& run,
                     PeerKind& kind);
  /// Another conduit takes the place of one that is dead.
  void renew(Peer& peer, core::ConduitConfig settings);

  /// Null: not known.
  Peer* find(core::NodeId node);
  auto begin() { return peers_.begin(); }
  auto end() { return peers_.end(); }
  auto begin() const { return peers_.begin(); }
  auto end() const { return peers_.end(); }

  // These submit a frame to conduits. The caller makes the router act afterwards.
  void tell(Peer& peer, core::FrameKind kind, std::span<const std::byte> body);
  void tell(Peer& peer, const net::ControlBody& body);
  /// All of this run that are there.
  void tell_all(const net::ControlBody& body, core::NodeId except = core::kNobody);
  /// The same for gateways of this run.
  void tell_all_gateways(const net::ControlBody& body, core::NodeId except = core::kNobody);
  void tell_processes(const net::ControlBody& body);

  /// Takes what has come from all of them. Not from a slot.
  void read_come();
  void say_goodbye();
  /// All peers that still have streams have acknowledged everything.
  bool flushed() const;
  void close();

 private:
  Peer& make(core::NodeId node, core::ConduitConfig settings, PeerKind& kind);

  asio::io_context& io_;
  core::Router& router_;
  core::NodeId self_;
  PeerTraffic& traffic_;
  std::map<core::NodeId, Peer> peers_;
};

}  // namespace isthmus::daemon
