// The inside of Gateway.
#pragma once

#include <array>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <set>

#include "compress/frame_compressor.hpp"
#include "core/router.hpp"
#include "core/sampling.hpp"
#include "core/shares.hpp"
#include "core/stream_count.hpp"
#include "daemon/gateway/gateway.hpp"
#include "net/conduit_driver.hpp"
#include "net/connect.hpp"
#include "net/control_body.hpp"
#include "net/listener.hpp"
#include "net/share_body.hpp"

namespace isthmus::daemon {

struct Gateway::State : std::enable_shared_from_this<State> {
  State(asio::io_context& context, GatewayConfig settings, Events handlers);
  ~State();

  /// Counts of a link: messages, bytes, waiting bytes, and streams.
  using Counts = std::array<std::uint64_t, 4>;

  /// The measurements of a link, over all its streams (tuning.cpp).
  struct Tuning {
    std::map<core::StreamId, net::TcpFigures> last;
    core::StreamCount count;
    std::uint64_t rate = 0;  // bytes/s, by the grid file; 0: unknown
    std::chrono::microseconds rtt{}, min_rtt{};
    double best_rate = 0;  // bytes/s, in one period
    std::uint64_t repeated = 0;
    Counts seen{};    // at the end of the last period
    Counts traced{};  // as last noted
    core::Sampling sampling{net::now()};
  };

  /// A process of its clusters, or another gateway.
  struct Peer {
    core::NodeId node = core::kNobody;
    std::shared_ptr<net::ConduitDriver> driver;
    bool told_link = false;  // a gateway: how the link is to be used, where this end has opened it
    bool joined = false;     // a process: said that it is connected to all gateways here
    bool counts = false;     // likewise: asked what it has sent without gateways, has not answered
    std::map<std::size_t, net::DirectCount> crossed;  // likewise: that, by cluster
    bool told_small = false;  // a gateway: that the link takes small segments
    net::Stream::Leg leg{};   // likewise: by what its connection goes, or went
    bool exposed = false;     // likewise: not encrypted, and from another host or by UCX
    core::Router::Neighbour* neighbour = nullptr;
    std::string where;
    std::string last_failure;                       // of a process's connection
    std::unique_ptr<asio::steady_timer> reconnect;  // until then a process may be connected again
    Tuning tuning;
    std::shared_ptr<net::Pacer> pacer;                          // of a link whose rate is known
    std::optional<std::pair<std::size_t, std::size_t>> shared;  // whose shares are the link's
    std::shared_ptr<compress::FrameCompressor> compressor;      // of a link
  };
  using PeerPtr = std::shared_ptr<Peer>;

  /// The number of processes of a cluster that have come and gone.
  struct Present {
    int joined = 0, left = 0, died = 0;
    std::string first_died{};
  };

  struct Dialled {
    GatewayLink link;
    bool up = false;  // the peer's Hello has been heard once
    int dialling = 0;
    std::string last_failure;
  };

  // processes.cpp: processes and gateways that come and go
  void welcome(net::Listener::Newcomer newcomer);
  std::string objection(const net::Listener::Newcomer& newcomer) const;
  PeerPtr add_peer(core::NodeId node, bool is_unix);
  std::shared_ptr<net::ConduitDriver> make_driver(Peer& peer, bool is_unix);
  void tell_what_is_known(Peer& peer);
  void process_joined(Peer& peer);
  void lost(Peer& peer, const net::Loss& loss);
  void await_reconnect(Peer& peer, const std::string& sentence);
  void ended(Peer& peer);
  void dead(Peer& peer, const std::string& reason);
  bool serves_nobody() const;
  void learn_without(const Peer& from, const net::control::Without& body);
  /// Whether a part of the world has joined. This gateway has a cluster of that part.
  bool all_joined(int part) const;
  bool all_left() const;
  bool any_inside() const;
  Present& present_of(const Peer& process);
  std::string name(core::NodeId node) const;

  // gateway_anew.cpp: gateways that were started anew
  bool only_forwards(core::NodeId node) const;
  bool stale(const net::Listener::Newcomer& newcomer) const;
  void renew(Peer& peer);
  void expect_neighbours(const core::Routes& next);
  void welcome_early();

  // control.cpp: news for all
  void control(Peer& from, const core::InFrame& frame);
  /// A body of a Control frame. Each says who may send it; what others send is ignored.
  void learn(Peer& from, const net::control::Joined& joined);
  void learn(Peer& from, const net::control::Link& link);
  void learn(Peer& from, const net::control::Lost& lost);
  void learn(Peer& from, const net::control::Without& without) { learn_without(from, without); }
  void learn(Peer& from, const net::control::Other& other);
  void learn(Peer& from, const net::control::Here& here);
  void learn(Peer& from, const net::control::Ask& ask);
  void learn(Peer& from, const net::control::Crossed& crossed);
  void learn(Peer& from, const net::control::Count& all);
  void learn(Peer& from, const net::control::Abort& abort);
  void learn(Peer& from, const net::control::Fault& fault);
  void learn(Peer& /*from*/, const auto& /*for processes*/) {}
  bool fails(const Peer& from, const net::ControlBody& news, const std::string& message);
  void tell(Peer& peer, core::FrameKind kind, std::span<const std::byte> body);
  void tell(Peer& peer, const net::ControlBody& body);
  void learn_crossed(Peer& from, const net::control::Crossed& body) const;
  template <class Of>
  Crossed crossed(Of of) const {
    Crossed sums;
    for (const auto& [node, peer] : peers) {
      if (peer->crossed.empty() || !of(*peer)) continue;
      const std::size_t cluster = router.world()->cluster_of_node(node);
      for (const auto& [to, count] : peer->crossed) sums[{cluster, to}] += count;
    }
    return sums;
  }
  void learn_joined(core::NodeId gateway, int part, core::NodeId from);
  void check_ready();
  bool complete(int part) const;
  void tell_all(const net::ControlBody& body, core::NodeId except = core::kNobody);
  void tell_processes(const net::ControlBody& body);
  void fault(const std::string& message, int code = 1);
  std::function<void(const std::string& sentence)> warns_of_files();

  // state.cpp: frames, and what follows from them
  bool take(Peer& from, const core::InFrame& frame, std::uint16_t hops);
  void progress(Peer& peer);
  void act();

  // links.cpp: conduits opened from this side
  void open_links(std::vector<GatewayLink> links, std::function<void(const std::string&)> done);
  int segment_to(core::NodeId to);
  void dial_all(core::NodeId to);
  void dial(core::NodeId to);
  static asio::awaitable<std::shared_ptr<net::Stream>> connected(std::shared_ptr<State> self,
                                                                 GatewayLink link);
  const net::Service* service_at(const std::string& at) const;
  static asio::awaitable<void> dialling(std::shared_ptr<State> self, core::NodeId to);
  void link_up(core::NodeId to);
  void links_settled(const std::string& error);
  std::string link_name(core::NodeId to) const;

  // junctions.cpp: conduits to gateways of other runs
  struct Junction;
  std::vector<std::string> join(JunctionPlan plan, std::function<void(const std::string&)> done);
  void add_junction_peer(const std::shared_ptr<Junction>& junction);
  void await_guests(const std::shared_ptr<Junction>& junction);
  void welcome_guests(Junction& junction, net::Listener::Newcomer newcomer);
  static asio::awaitable<std::shared_ptr<net::Stream>> reach_junction(
      std::shared_ptr<Junction> junction, net::ConnectOptions options);
  static asio::awaitable<void> dial_junction(std::shared_ptr<State> self,
                                             std::shared_ptr<Junction> junction);
  void junction_lost(Junction& junction, const std::string& why);
  void part(const std::string& run);
  void close_junctions();

  // tuning.cpp: how links are used
  void plan_tuning();
  void look_at_links();
  void stir(Peer& peer);
  void sample(Peer& peer);
  void tune(Peer& peer, double seconds);
  void note_counts(Peer& peer) const;
  static bool tuned(const Peer& peer);
  static Counts counts_of(const Peer& peer);
  void set_rate(Peer& peer, std::uint64_t bytes_per_second);
  void set_congestion(Peer& peer, const std::string& wanted) const;
  static void set_compress(Peer& peer, bool wanted);
  void learn_link(Peer& from, const net::control::Link& body);
  void want_streams(core::NodeId to, int streams);

  // sharing.cpp: how processes share the links by which they reach others themselves
  void learn_share(core::NodeId from, const net::ShareBody& body);
  void share_rate(Peer& peer);
  void leaves_shares(core::NodeId node);
  void tick_shares();
  void tell_rise(const std::pair<std::size_t, std::size_t>& clusters);
  void tell_shares(const std::pair<std::size_t, std::size_t>& clusters, core::Shares& sharing,
                   bool risen = false);

  void close(std::function<void()> done);
  void close_now();
  void check_closed();

  asio::io_context& io;
  GatewayConfig config;
  Events events;
  std::unique_ptr<net::Listener> listener;
  std::vector<std::unique_ptr<net::ServiceDoor>> doors;  // at services
  core::Router router;
  // Shares of links between processes, by the cluster that sends and the one that receives.
  std::map<std::pair<std::size_t, std::size_t>, core::Shares> shares;
  std::set<std::pair<std::size_t, std::size_t>> rising;  // of these, whose members will hear of it

  std::map<core::NodeId, PeerPtr> peers;
  std::vector<net::Listener::Newcomer> early;      // before the world is known, where it matters
  std::map<std::size_t, Present> present;          // processes, by cluster
  std::set<std::pair<int, core::NodeId>> without;  // processes, and the gateways they do without
  // Gateways that know all their processes of a part of the world to have joined.
  std::set<std::pair<core::NodeId, int>> full;
  std::set<int> ready;                // parts whose processes have been told so
  std::vector<core::Growth> growths;  // of the world, ever
  bool faulted = false;
  bool told_gone_on = false;  // to the user: some process goes on without this gateway

  std::map<core::NodeId, Dialled> dialled;
  std::function<void(const std::string&)> links_done;
  asio::steady_timer link_timer;
  asio::steady_timer tune_timer;
  core::Time tune_at = core::Time::max();  // when that ends; max: it does not run

  std::map<core::NodeId, std::shared_ptr<Junction>> junctions;  // by the other end

  bool closing = false, closed = false;
  std::function<void()> close_done;
  asio::steady_timer close_timer;
};

}  // namespace isthmus::daemon
