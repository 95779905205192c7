// The gateway of a cluster, or of several: accepts their processes and other gateways, and forwards
// frames between them with bounded memory. It runs on its owner's io_context (one thread); all
// functions are called, and all events arrive, on that thread.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/wipe.hpp"
#include "core/router/router.hpp"
#include "core/world/world.hpp"
#include "net/control/control_body.hpp"
#include "net/door/service.hpp"
#include "net/door/strangers.hpp"
#include "net/stream/handshake.hpp"

namespace isthmus::daemon {

struct GatewayConfig {
  core::NodeId node = core::kNobody;
  std::string cluster;  ///< of whose it is, for messages before the world is known
  std::string job;      ///< identifies the job in messages and handshakes
  core::Secret secret;  ///< the job's, raw bytes
  /// A link to another gateway that is silent for this long is lost; GatewayLink may say otherwise.
  std::chrono::milliseconds patience{600'000};
  /// A silent link is given up after this long where the grid has other ways.
  std::chrono::milliseconds failover{10'000};
  /// The time that `link` tries to reach the other gateways.
  std::chrono::milliseconds connect_timeout{10'000};
  /// The time that a newcomer has to prove that it knows the secret.
  std::chrono::milliseconds handshake_timeout = net::kHandshakeLimit;
  /// Bounds what a link has under way, and what waits here for others, each. Twice bandwidth x
  /// delay of 10 Gbit/s and 50 ms; what is really in use follows the network's own windows.
  std::size_t link_bytes = std::size_t{128} << 20;
  /// Serve unencrypted (still authenticated) TCP conduits from gateways on other hosts. Needed when
  /// a link of the grid has encryption turned off. Unix sockets and loopback never need it.
  bool accept_plain = false;
  /// The same from processes, where a cluster of its own has; the world says which.
  bool accept_plain_ranks = false;
  /// It takes the place of one that has died, and serves nobody itself. Its neighbours connect to
  /// it when they like, and send at once.
  bool anew = false;
  /// The run goes on without clusters that fail. Once all have joined, the gateway suspects a
  /// cluster where it would else report a fault of it.
  bool survives = false;
  /// It comes to a world that is running, for clusters to come.
  bool late = false;
  /// Services that links may use: a link's address is "service:" and the service's `at`.
  std::vector<net::Service> services{};
};

/// A conduit to another gateway, to be opened from this side.
struct GatewayLink {
  core::NodeId to = core::kNobody;
  std::vector<std::string> addresses;  ///< "tcp:", "unix:" or "service:", best first
  bool encrypt = true;
  std::uint64_t rate = 0;  ///< bytes per second on the wire, each way, to stay under; 0: unknown
  double rtt = 0;          ///< seconds; 0: unknown
  int streams = 0;         ///< exactly so many; 0: as many as it needs
  std::chrono::milliseconds patience{};  ///< 0: the gateway's
  std::string congestion{};              ///< of its streams' TCP; empty: as the kernel has it
  bool compress = false;                 ///< what crosses, where it gains
  core::Net net = core::Net::Tcp;        ///< UCX only without `encrypt`
};

/// Gateways that come to a world that is running. They serve clusters by which it grows later.
struct Extension {
  std::vector<std::pair<core::NodeId, std::string>> gateways;  ///< nodes, and names for messages
  std::vector<GatewayLink> links;  ///< to be opened from here, to some of them
  std::vector<core::NodeId> gone;  ///< gateways of earlier extensions that never served a cluster
};

/// A conduit to a gateway of another run, of which guests come. One end has addresses to listen at,
/// the other those to connect to. Both show credentials that are of this junction alone. At the
/// services the one that listens is called by the number of its end, where no address leads to it.
struct JunctionPlan {
  std::string run;                                          ///< the other run's job
  core::NodeId self = core::kNobody, peer = core::kNobody;  ///< numbers of the ends, on it alone
  std::string name;                                         ///< in the handshake
  core::Secret secret;                                      ///< raw bytes
  std::vector<std::string> listen;                          ///< "tcp:host:0", "unix:/path"
  std::vector<std::string> connect;
  std::vector<net::Service> services{};
  std::chrono::milliseconds patience{};  ///< 0: the gateway's
};

/// The traffic of this gateway to another one.
struct LinkCount {
  core::NodeId from = core::kNobody;
  core::NodeId to = core::kNobody;
  std::uint64_t messages = 0;
  std::uint64_t frames = 0;      ///< routed frames
  std::uint64_t bytes = 0;       ///< of the program's payload
  std::uint64_t wire_bytes = 0;  ///< with headers, acknowledgements and repetitions, without TLS
  int streams = 0;               ///< open now
  bool ucx = false;              ///< these go by UCX
  bool memory = false;           ///< these go by memory that the two share
  std::chrono::microseconds rtt{}, min_rtt{};  ///< as the kernel measures them; 0: unknown
  double best_rate = 0;                        ///< bytes a second delivered, in the best 100 ms
  std::uint64_t repeated = 0;                  ///< bytes that the network lost
  std::uint64_t waiting = 0;  ///< bytes given to it that the other end has not passed on yet
  std::chrono::milliseconds silence{};  ///< how long it has not been heard
};

/// The connections between the processes of a cluster and a gateway, and its traffic to them.
struct NearCount {
  int processes = 0;
  int ucx = 0, memory = 0;  ///< of these, by UCX; by memory that they share with it
  int plain = 0;            ///< of these, by TCP from other hosts without encryption
  std::uint64_t messages = 0, bytes = 0, wire_bytes = 0;
};

/// Connections that a gateway has turned away before they had proved anything.
struct TurnedAway {
  net::DoorCount ranks_and_gateways;
  net::DoorCount guests;  ///< at its ports for other runs
};

/// The processes of a cluster that are there.
struct Attendance {
  std::string cluster;
  int size = 0, joined = 0, left = 0;
  int died = 0;              ///< of those that joined, without leaving: their streams ended
  std::string first_died{};  ///< "RANK ended ... on HOST"
};

/// A link that has not been heard for a while, for the user.
struct LinkSilence {
  core::NodeId from = core::kNobody;
  core::NodeId to = core::kNobody;
  std::chrono::milliseconds silence{}, patience{};
  bool over = false;  ///< it is heard again, after `silence`
};

/// Hears from a Gateway, on its thread. A slot does not block or throw. It may call the gateway,
/// but not destroy it. The last call comes before the gateway's destructor.
class GatewayUser {
 public:
  /// Every rank of the cluster has joined; `size`: their number.
  virtual void joined(const std::string& /*cluster*/, int /*size*/) {}
  /// A rank anywhere in the grid called MPI_Abort. At most one of abort and fault, once.
  virtual void abort(int /*rank*/, int /*code*/, const std::string& /*message*/) {}
  /// Something broke, here or elsewhere; the message says what and where.
  virtual void fault(const std::string& /*message*/, int /*code*/) {}
  /// Only if the run survives: a cluster seems to have failed. Either no way from this gateway
  /// leads there, or it is the gateway's own and a process vanished. Somebody decides which cluster
  /// has failed, and calls Gateway::failed. Once for each cluster.
  virtual void suspect(core::NodeId /*gateway*/, std::size_t /*cluster*/,
                       const std::string& /*sentence*/) {}
  /// After Gateway::go_on_alone: no process is left in the run, as gateways without launchers say.
  /// Once.
  virtual void all_done() {}
  /// A gateway elsewhere agrees, as by Gateway::agree. Once for each.
  virtual void agreed(core::NodeId /*gateway*/) {}
  /// The job goes on, but not as it should: a link is lost, files are short.
  virtual void warning(const std::string& /*sentence*/) {}
  /// No process is left: all go on by other gateways. Once.
  virtual void abandoned() {}
  /// A link is silent, and its gateway waits. Called after 30 s, then each time the silence has
  /// doubled, and once more when it is over.
  virtual void silence(const LinkSilence& /*silence*/) {}
  /// The place of a process of this cluster in the program, as JSON: an answer to `ask_where`.
  virtual void here(const std::string& /*whereabouts*/) {}
  /// A process of its clusters asks the launcher something, JSON; Gateway::answer has the answer.
  virtual void ask(core::NodeId /*process*/, std::uint64_t /*number*/,
                   const std::string& /*request*/) {}
  /// The junctions to another run are lost, or it has left.
  virtual void parted(const std::string& /*run*/, const std::string& /*sentence*/) {}
  /// A connection was refused (no secret, another version, ...). The sentence is for a log.
  virtual void rejected(const std::string& /*sentence*/) {}

 protected:
  ~GatewayUser() = default;
};

class Gateway {
 public:
  /// The user outlives this object.
  Gateway(asio::io_context& io, GatewayConfig config, GatewayUser& user);
  /// Closes at once; processes and gateways that are still there see a fault.
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  /// Opens the ports; port 0 means any. Returns the addresses with the ports filled in, in the
  /// same order. Throws net::ListenError with a sentence that names the address that failed.
  std::vector<std::string> listen(const std::vector<std::string>& addresses);

  /// Is reached by calls at one of the `services` as well, from now on. After `listen`.
  void await_calls(const std::string& at);

  /// Learns the world, opens `links`, and routes by `next`: destination cluster index to
  /// neighbouring gateways, the best first (its own clusters need no entry). `done` is called once,
  /// with an empty string when all links are up, or with a sentence that names the link and the
  /// address. Links that other gateways open to this one are not waited for.
  void link(core::World world, std::vector<GatewayLink> links, core::Routes next,
            std::function<void(const std::string& error)> done);

  /// The world has further gateways. `done` is called as for `link`. After `link`.
  void extend(Extension extension, std::function<void(const std::string& error)> done);

  /// The world has grown: lets the new processes in, and tells those that are there. `next`, and
  /// what is thrown: as for core::Router::grow.
  void grow(const core::Growth& growth, std::vector<core::NodeId> next = {});

  /// Opens one end of a junction, before the world grows by its guests. Returns the addresses where
  /// it listens. If it connects instead, `done` is called when the junction is open, or with a
  /// sentence. Throws net::ListenError.
  std::vector<std::string> join(JunctionPlan plan, std::function<void(const std::string&)> done);
  /// Another run is not there any more: ends its junctions, and tells the processes.
  void part(const std::string& run, const std::string& sentence);

  /// Takes what its processes and other gateways have sent, as far as it has come. Not from a slot.
  void read_come();

  /// A cluster has failed, for good, and the run goes on without it; `message` says why. Tells all
  /// processes, also those that join later. First passes on what has come from there, as far as
  /// there is room. Later frames from there or to there are dropped, its conduits are closed, and
  /// it is refused. Not from a slot.
  void failed(std::size_t cluster, const std::string& message);

  /// Tells all processes, also those that join later. It ignores news that it has heard.
  void spare(const net::control::Spare& news);

  /// The launcher is lost, and the run goes on: GatewayUser::all_done says when it is over.
  void go_on_alone();
  /// Tells the other gateways that this one, or one from which it has heard so, agrees to give up
  /// the clusters beside the launcher.
  void agree(core::NodeId gateway);
  /// No process of that cluster runs any more.
  void have_ended(std::size_t cluster);

  /// Tells every process and gateway that the job cannot go on (used by the agent when it learns
  /// so by its own means). Does not call GatewayUser::fault.
  void fault(const std::string& message, int code);

  /// Asks all processes of this cluster where they are; each that can answers by GatewayUser::here,
  /// and writes its trace as well if `traces`.
  void ask_where(bool traces);

  /// Takes the launcher's answer to a process. False: that is not connected here.
  bool answer(core::NodeId process, std::uint64_t number, const std::string& reply);

  /// Says goodbye to all, then closes; `done` is called within a second.
  void close(std::function<void()> done);

  bool joined() const;    ///< every rank of its clusters has joined
  bool ready() const;     ///< every rank of the run has, as far as it knows
  bool finished() const;  ///< every rank of its clusters has joined and left in good order
  std::vector<Attendance> attendance() const;  ///< of its clusters, once the world is known
  std::vector<LinkCount> counts() const;
  TurnedAway turned_away() const;
  /// Traffic without gateways, by the cluster of the sender and of the receiver.
  using Crossed = std::map<std::pair<std::size_t, std::size_t>, net::DirectCount>;
  /// Processes tell it when they leave, and when `ask_crossed` asks them.
  Crossed crossed() const;
  Crossed crossed_of_left() const;  ///< of processes that have left
  /// Asks all processes of this cluster what they have sent without gateways. One that has not
  /// answered is not asked again.
  void ask_crossed();
  /// The key is the index of the gateway's cluster.
  std::map<std::size_t, NearCount> near() const;
  /// Traffic between processes of the gateway's clusters, by the two clusters.
  const core::Router::Crossings& crossings() const;
  /// Frames that went back, or on by another way, since theirs was lost.
  std::uint64_t redirected() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace isthmus::daemon
