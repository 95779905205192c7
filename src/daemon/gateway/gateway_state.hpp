// The inside of Gateway.
#pragma once

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <set>

#include "core/stream_count.hpp"
#include "daemon/gateway/gateway.hpp"
#include "net/conduit_driver.hpp"
#include "net/control_body.hpp"
#include "net/listener.hpp"

namespace isthmus::daemon {

struct Gateway::State : std::enable_shared_from_this<State> {
  State(asio::io_context& context, GatewayConfig settings, Events handlers);
  ~State();

  /// A frame that has arrived and whose next conduit is full. Its bytes stay charged to the
  /// window of the conduit it came by, which bounds how many there can be.
  struct Held {
    core::FrameKind kind{};
    core::NodeId source = core::kNobody;
    core::NodeId destination = core::kNobody;
    std::uint16_t hops = 0;
    std::uint8_t flags = 0;
    std::vector<std::byte> body;
    core::Receipt receipt{};
  };

  /// What is known of a link, over all its streams (gateway_tuning.cpp).
  struct Tuning {
    std::map<core::StreamId, net::TcpFigures> last;
    core::StreamCount count;
    std::uint64_t rate = 0;  // bytes/s, by the grid file; 0: unknown
    std::chrono::microseconds rtt{}, min_rtt{};
    double best_rate = 0;  // bytes/s, in one period
    std::uint64_t repeated = 0;
  };

  /// Of a link that is not heard (gateway_patience.cpp).
  struct Silence {
    bool begun = false;                  // its streams are given up
    std::chrono::milliseconds length{};  // when last looked at
    std::chrono::milliseconds told{};    // to the user
    core::Time asked{};                  // the processes, for other ways
    std::set<std::size_t> elsewhere;     // clusters that other gateways still reach
  };

  /// A process of this cluster, or another gateway.
  struct Peer {
    core::NodeId node = core::kNobody;
    std::shared_ptr<net::ConduitDriver> driver;
    bool joined = false;     // a process: said that it is connected to all gateways here
    bool left = false;       // said Bye
    bool unflushed = false;  // in State::unflushed
    std::string where;
    // What waits for room towards this peer, by the peer it came from; those take turns.
    std::map<core::NodeId, std::deque<Held>> held;
    std::deque<core::NodeId> turns;
    std::uint64_t messages = 0, bytes = 0;  // sent
    Tuning tuning;
    Silence silence;
  };
  using PeerPtr = std::shared_ptr<Peer>;

  struct Dialled {
    GatewayLink link;
    bool up = false;  // the peer's Hello has been heard once
    int dialling = 0;
    std::string last_failure;
  };

  // gateway_peers.cpp: who comes and goes
  void welcome(net::Listener::Newcomer newcomer);
  std::string objection(const net::Listener::Newcomer& newcomer) const;
  PeerPtr add_peer(core::NodeId node, bool is_unix);
  void process_joined(Peer& peer);
  void lost(Peer& peer, const net::Loss& loss);
  void ended(Peer& peer);
  void dead(Peer& peer, const std::string& reason);
  bool all_joined() const;
  bool all_left() const;
  std::string name(core::NodeId node) const;

  // gateway_control.cpp: what is told to all
  void control(Peer& from, const core::InFrame& frame);
  void tell(Peer& peer, core::FrameKind kind, std::span<const std::byte> body);
  void learn_crossed(const net::ControlBody& body);
  void learn_joined(core::NodeId gateway, core::NodeId from);
  void check_ready();
  void spread(const net::ControlBody& body, core::NodeId except);
  void fault(const std::string& message, int code = 1);

  // gateway_forward.cpp: frames
  bool take(Peer& from, const core::InFrame& frame, std::uint16_t hops);
  PeerPtr next_hop(core::NodeId node, std::string& trouble) const;
  bool pass_on(Peer& to, core::NodeId from, const core::InFrame& frame, std::uint16_t hops);
  void forward(Peer& to, const core::InFrame& frame, std::uint16_t hops);
  void release(Peer& to);
  void drop_held(Peer& to);
  void settle(const core::Receipt& receipt);
  void settle_passed_on(Peer& to);
  void flush_later(Peer& peer);
  void flush();
  void progress(Peer& peer);

  // gateway_failover.cpp: ways that are lost
  bool give_up(Peer& peer, const std::string& sentence);
  core::NodeId other_way(std::size_t cluster, bool heard) const;
  bool lose_way(std::size_t cluster, const std::string& sentence, bool elsewhere);
  std::size_t fellows() const;
  void learn_lost(Peer& from, const net::ControlBody& body);
  void salvage(Peer& peer);
  PeerPtr redirect(core::NodeId from, core::InFrame& frame, std::uint16_t& hops,
                   std::string& trouble) const;

  // gateway_patience.cpp: links that are silent
  void watch(Peer& peer);
  std::vector<std::size_t> carried(const Peer& peer) const;
  void ask_for_others(Peer& peer);
  void tell_processes(const net::ControlBody& body);
  void learn_other(std::size_t cluster);
  void fail_over(Peer& peer);
  void heard_again(Peer& peer);
  void tell_silence(Peer& peer, bool over);

  // gateway_links.cpp: conduits opened from this side
  void open_links(std::vector<GatewayLink> links, std::function<void(const std::string&)> done);
  void dial(core::NodeId to);
  static asio::awaitable<void> dialling(std::shared_ptr<State> self, core::NodeId to);
  void link_up(core::NodeId to);
  void links_settled(const std::string& error);
  std::string link_name(core::NodeId to) const;

  // gateway_tuning.cpp: how links are used
  void start_tuning();
  void tune(Peer& peer);
  void set_rate(Peer& peer, std::uint64_t bytes_per_second);
  void learn_link(Peer& from, const net::ControlBody& body);
  void want_streams(core::NodeId to, int streams);

  void close(std::function<void()> done);
  void close_now();
  void check_closed();

  asio::io_context& io;
  GatewayConfig config;
  Events events;
  std::unique_ptr<net::Listener> listener;
  std::optional<core::World> world;
  std::size_t cluster = 0;  // index of mine, once the world is known
  bool custody = false;     // a frame is acknowledged when its destination has it
  std::map<std::size_t, core::NodeId> next;
  // Clusters that a neighbour has said it does not reach any more; those that this gateway does not
  // reach, with the reason.
  std::set<std::pair<core::NodeId, std::size_t>> lost_there;
  std::map<std::size_t, std::string> unreachable;
  std::uint64_t redirected = 0;                     // frames
  std::map<std::size_t, net::DirectCount> crossed;  // by cluster, of processes that have left

  std::map<core::NodeId, PeerPtr> peers;
  std::vector<PeerPtr> unflushed;
  std::size_t joined = 0, left = 0;  // processes
  std::set<core::NodeId> full;       // gateways that know all their processes to have joined
  bool ready = false;
  bool faulted = false;

  std::map<core::NodeId, Dialled> dialled;
  std::function<void(const std::string&)> links_done;
  asio::steady_timer link_timer;
  asio::steady_timer tune_timer;

  bool closing = false, closed = false;
  std::function<void()> close_done;
  asio::steady_timer close_timer;
};

}  // namespace isthmus::daemon
