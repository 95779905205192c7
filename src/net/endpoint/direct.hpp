// Conduits from a process to processes of other clusters. They are on its own host (through shared
// memory), or on hosts that the grid file lets this one reach. A conduit is opened when two
// processes first have a message for each other. Frames go over gateways until it is open. They
// always do so if the network does not allow the conduit, or it is lost.
//
// Invite frames, which travel over the gateways, settle which end listens. The process with the
// lower rank invites the other to its addresses. If none of those can be reached, the other invites
// it in turn. All of this runs on the thread that has the turn.
#pragma once

#include <asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/engine/peer_memory.hpp"
#include "core/router/direct_links.hpp"
#include "core/streams/bursts.hpp"
#include "core/streams/crowd.hpp"
#include "core/world/world.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/control/control_body.hpp"
#include "net/door/listener.hpp"
#include "net/host/credentials.hpp"
#include "net/shm/lending.hpp"

namespace isthmus::net {

/// What an Invite says.
struct Invite {
  std::vector<std::string> addresses;  ///< of the sender; none: it would like to be invited
  bool unreachable = false;            ///< those that it was invited to
};
std::vector<std::byte> encode_invite(const Invite& invite);
/// Empty if it is malformed.
std::optional<Invite> decode_invite(std::span<const std::byte> body);

/// Why a process does not serve one that connects directly, over the link of their clusters if
/// there is one; nothing if it does.
std::optional<std::string> objection(const core::Direct* link, const Listener::Newcomer& newcomer);

/// Hears from the direct conduits of a process, on the thread that has the turn, and never after
/// Direct::close(). A slot does not block or throw. It may submit to conduits and call Direct, but
/// not flush from `invite`: the engine may be locked there.
class DirectUser {
 public:
  /// As ConduitUser::frame. All are routed; the user checks the source.
  virtual bool frame(core::NodeId from, const core::InFrame& frame) = 0;
  /// As ConduitUser::place.
  virtual core::Landing place(core::NodeId from, const core::InFrame& beginning) = 0;
  /// As ConduitUser::progress.
  virtual void progress() = 0;
  /// To be sent to that process by the gateways. It is lost without an error if none reaches it.
  virtual void invite(core::NodeId to, const std::vector<std::byte>& body) = 0;
  /// The conduit to a peer is lost: from now on it is reached by the gateways. Once for each.
  virtual void lost(const core::Conduit& conduit) = 0;
  /// The gateways are to hear what part of the rate of the link to a cluster could be used here.
  virtual void share(std::size_t cluster, double part) = 0;
  /// A peer of this host tells of its memory, which this process may read.
  virtual void reads(core::NodeId from, const core::PeerMemory& memory) = 0;
  /// A peer of this host may read this process's memory.
  virtual void lends(core::NodeId to) = 0;

 protected:
  ~DirectUser() = default;
};

class Direct final : public std::enable_shared_from_this<Direct>, public ListenerUser {
 public:
  /// The user outlives this object, or the call of close().
  Direct(asio::io_context& io, const core::World& world, core::NodeId self, Credentials credentials,
         DirectUser& user);

  /// Some pair of clusters of this process is direct. If not, nothing else need be called.
  bool any() const { return !links_.own().empty(); }
  /// Opens the port: any, or one of "FIRST-LAST". If all of those are taken, it opens none, and
  /// only connects to others. Throws std::runtime_error.
  void listen(const std::string& ports = {});

  /// Peers of this host learn about this process's memory from now on. Call it before the first
  /// peer.
  void lend() { lends_ = true; }

  /// The conduit to a peer that can be used; null: by the gateways. Asks for one the first time.
  ConduitDriver* to(core::NodeId peer);
  void take_invite(core::NodeId from, const Invite& invite);
  /// A gateway says what part of the rate of the link to that cluster may be used here.
  void take_share(std::size_t cluster, double part);

  /// The traffic of this process, by the receivers' cluster.
  std::map<std::size_t, DirectCount> counts() const;
  /// ConduitDriver::lands for the conduit to a peer.
  bool lands(core::NodeId peer) const;
  void flush();
  /// Hands on what has come from a cluster.
  void read_from(std::size_t cluster);
  /// A cluster has failed: conduits to it close without a word to the user, and no others are
  /// opened.
  void forget(std::size_t cluster);
  /// All conduits die.
  void fail(const std::string& why);
  void bye();
  bool flushed() const;
  /// All that went to processes of other hosts has arrived, or they have gone.
  bool arrived() const;
  void close();

 private:
  struct Peer final : ConduitUser {
    Peer(Direct& owner, core::NodeId number) : direct(owner), node(number) {}
    bool frame(const core::InFrame& frame, std::uint16_t hops) override;
    core::Landing place(const core::InFrame& beginning) override;
    void progress() override;
    void connected() override;
    void lost(const Loss& loss) override;
    void ended() override { has_ended = true; }
    void dead(const std::string& reason) override;

    Direct& direct;
    core::NodeId node;
    std::shared_ptr<ConduitDriver> driver;
    bool asked = false, dialled = false, invited = false, is_connected = false;
    bool has_ended = false;
    shm::Lending lending;
    bool by_ucx = false;  // its streams go by UCX, or went
    std::vector<std::string> addresses;
    int streams = 0;  // to be opened, and opened again when lost, from this side
    int held = 0;     // the most that `streams` may become; no more than it: none stand by
    core::Bursts bursts;
    std::shared_ptr<core::Crowd> crowd;  // of all peers of its cluster; null: it has no streams yet
    std::uint64_t bulk = 0;              // bytes that `bursts` has been told of
    std::string last_failure;
  };
  using PeerPtr = std::shared_ptr<Peer>;

  PeerPtr peer(core::NodeId node);
  bool has_failed(core::NodeId node) const {
    return !failed_.empty() && failed_.contains(world_.cluster_of_node(node));
  }
  void invite(Peer& peer, bool unreachable);
  std::vector<std::string> addresses_for(const core::Direct& link) const;
  void accepted(Listener::Newcomer newcomer) override;
  void attach(const PeerPtr& peer, std::shared_ptr<Stream> stream, std::span<const std::byte> read);
  void take_control(Peer& peer, const core::InFrame& frame);
  void say(Peer& peer, std::span<const std::byte> control);
  std::shared_ptr<Pacer> pacer_to(std::size_t cluster, const core::Direct& link);
  void hold_streams(Peer& peer, const core::Direct& link);
  static int wanted(const Peer& peer, core::Time time);
  void count(Peer& peer);
  void stand_by();
  static asio::awaitable<void> standing_by(std::shared_ptr<Direct> self, PeerPtr peer);
  void look_again();
  void dial(const PeerPtr& peer);
  static asio::awaitable<void> dialling(std::shared_ptr<Direct> self, PeerPtr peer);

  asio::io_context& io_;
  const core::World& world_;
  const core::NodeId self_;
  const core::DirectLinks links_;
  const Credentials credentials_;
  DirectUser& user_;
  bool lends_ = false;
  bool leaving_ = false, closed_ = false;
  int dials_ = 0;  // under way, of streams that are to stand by
  std::unique_ptr<Listener> listener_;
  std::string shm_address_;  // for processes of this host
  std::vector<std::string> tcp_addresses_;
  std::map<core::NodeId, PeerPtr> peers_;
  std::set<std::size_t> failed_;  // clusters
  // By the peers' cluster.
  std::map<std::size_t, std::shared_ptr<Pacer>> pacers_;
  std::map<std::size_t, std::shared_ptr<core::Crowd>> crowds_;
};

}  // namespace isthmus::net
