// The inside of Endpoint: its I/O thread and the conduits to the cluster's gateways.
#pragma once

#include <asio/io_context.hpp>
#include <condition_variable>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "core/router/ways.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/control/control_body.hpp"
#include "net/endpoint/direct.hpp"
#include "net/endpoint/endpoint.hpp"
#include "net/endpoint/endpoint_gate.hpp"
#include "net/endpoint/endpoint_pump.hpp"
#include "net/endpoint/questions.hpp"
#include "net/waiting/io_turn.hpp"

namespace isthmus::net {

// An endpoint has one object of it. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct Endpoint::Io final : DirectUser {
  Io(Endpoint& owner, EndpointConfig settings, FaultHandler handler);

  // ---- on the program's threads ---------------------------------------------------------------

  void start();
  void make_direct();
  void stop();

  // ---- on the thread whose turn it is ---------------------------------------------------------

  /// Runs handlers until the endpoint's events() differ from `seen` or `limit` has passed.
  void drive(std::uint32_t seen, std::chrono::microseconds limit);

  /// A gate is connected for the first time.
  void connected();
  /// Submits the frames of lost ways, while there are others.
  void send_again();
  /// The conduit that takes such a frame to a peer now; null: none does.
  ConduitDriver* way_to(core::NodeId peer, bool bulk, core::LinkChoice link = core::kAnyLink);
  bool may_go_directly(std::size_t cluster, core::LinkChoice link) const;
  /// Sets which gateways of `ways` belong to which link.
  void name_links(std::size_t mine);
  /// A gateway does not reach a cluster any more, or a process of it.
  void lose(const Gate& gate, const control::Lost& lost);
  /// A process continues without one of its gateways. The gateway may not hear of it otherwise.
  void pass_on_without(const Gate& from, const control::Without& body);
  /// The connection to a gateway has ended: its messages go over the others.
  void lose_gate(Gate& gate, const std::string& why);
  void send_elsewhere(const core::Conduit& conduit);
  /// A gateway hears nothing of a cluster: says so if another still reaches it.
  void fall_silent(Gate& gate, std::size_t cluster, bool ask);
  void take_back(const Gate& gate, const core::InFrame& frame);
  void flush();
  bool flushed() const;
  bool take(Gate& gate, const core::InFrame& frame);
  bool deliver(const core::InFrame& frame);
  /// `by`: the gate that it comes by; null: it comes directly.
  core::Landing place(const core::InFrame& beginning, const Gate* by);
  bool frame(core::NodeId from, const core::InFrame& frame) override;
  core::Landing place(core::NodeId from, const core::InFrame& beginning) override {
    return beginning.source == from ? place(beginning, nullptr) : core::Landing{};
  }
  void invite(core::NodeId to, const std::vector<std::byte>& body) override;
  void lost(const core::Conduit& conduit) override { send_elsewhere(conduit); }
  void share(std::size_t cluster, double part) override { tell_share(cluster, part); }
  void reads(core::NodeId from, const core::PeerMemory& memory) override;
  void lends(core::NodeId to) override;
  void take_control(Gate& gate, const core::InFrame& frame);
  void progress() override;
  void say(const ControlBody& body);
  void tell_where(Gate& gate, bool traces);
  void ask(const control::Ask& question);
  /// A body of a Control frame from a gate. Other types are for gateways alone.
  void learn(Gate& gate, const control::Lost& body) { lose(gate, body); }
  void learn(Gate& gate, const control::Without& body) { pass_on_without(gate, body); }
  void learn(Gate& gate, const control::Count& /*body*/) { answer_count(gate); }
  void learn(Gate& gate, const control::Where& body) { tell_where(gate, body.traces); }
  void learn(Gate& /*gate*/, const control::Answer& body) {
    if (questions.take(body)) wake();
  }
  void learn(Gate& /*gate*/, const control::Grown& body) { grow(body.growth); }
  void learn(Gate& gate, const control::Parted& parted);
  void learn(Gate& gate, const control::Silent& body) { fall_silent(gate, body.cluster, body.ask); }
  void learn(Gate& gate, const control::Heard& body) { ways.heard(gate.index, body.cluster); }
  void learn(Gate& gate, const control::Abort& abort);
  void learn(Gate& gate, const control::Failed& news);
  void learn(Gate& gate, const control::Spare& news);
  void learn(Gate& /*gate*/, const control::Fault& body) { fault(body.message, body.code); }
  void learn(Gate& /*gate*/, const auto& /*body*/) {}
  /// A gateway tells that the world has grown; frames of one conduit come in any order.
  void grow(const std::string& growth);
  void grow_ways(const core::Growth& growth);
  void wake();
  /// Tells the engine what is there of a send by now, and moves it.
  void extend(GrowingSend& send);
  /// A cluster of this world has failed.
  void forget(std::size_t cluster, const std::string& why);
  /// The window of guests does not depend on the size of this world.
  void bound(const core::Cluster& cluster);
  /// Says which part of the link's rate to a cluster this process could use.
  void tell_share(std::size_t cluster, double part);
  /// Tells the first gateway that lives what has gone past the gateways since it was last told.
  void tell_crossed();
  void answer_count(Gate& gate);
  void fault(const std::string& sentence, int code);
  void tell_fault(const std::string& sentence);
  void tell_broken(core::NodeId source);
  Gate* first_open_gate();  ///< null: none is

  Endpoint& endpoint;
  EndpointConfig config;
  /// The name of this process in messages.
  std::string rank_name() const {
    return config.world.rank_name(static_cast<core::NodeId>(config.node));
  }
  FaultHandler on_fault;
  asio::io_context io;
  IoTurn turn{io};
  asio::steady_timer nap{io};
  unsigned naps = 0;  // those that have ended
  std::deque<Gate> gates;
  core::Ways ways{0, 0};  // by index of gates
  Pump pump;
  std::shared_ptr<Direct> direct;
  bool open = false;                                     // all gates are ready: frames flow
  std::map<std::size_t, DirectCount> told_crossed;       // by cluster
  std::map<std::size_t, core::Growth> early;             // growths whose predecessors have not come
  std::map<std::size_t, std::string> failed;             // clusters, also of growths to come; why
  std::map<std::uint64_t, control::Spare> early_spares;  // news before which others are missing
  std::uint64_t spares = 0;                              // number of the next news
  std::set<std::pair<int, core::NodeId>> passed_on;      // who goes on without which gateway
  bool said_bye = false;
  std::atomic<std::uint64_t> sent_again{0};
  std::atomic<bool> woken{false};
  std::thread thread;
  int pid = 0;  // of the process that has the thread

  // The program's threads wait for these.
  std::mutex mutex;
  std::condition_variable changed;
  enum class Phase { Joining, Joined, Leaving, Left, Failed } phase = Phase::Joining;
  std::string failure;
  std::atomic<bool> ends{false};  // somebody waits for what has been said to arrive
  bool saying = false;            // of the I/O thread: abort waits for `said`
  bool said = false;
  std::shared_ptr<const core::World> world;  // what `config.world` is, for other threads
  Questions questions;
};

}  // namespace isthmus::net
