// For tests: a whole grid of gateways and processes, over a network in virtual time. Its links lie
// between the k-th gateways of neighbouring clusters, the shorter list wrapping around.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/router/router.hpp"
#include "core/router/ways.hpp"

namespace isthmus::core {

inline constexpr std::size_t kBulk = 32 * 1024;  ///< a message that is no small one

using namespace std::chrono_literals;

class Grid {
 public:
  struct Setup {
    std::vector<int> sizes{1, 1};     // ranks per cluster; clusters are linked in a chain
    std::vector<int> gateways{1, 1};  // per cluster
    bool ring = false;                // the last cluster is linked with the first, too
    /// Gateways after those, by the clusters that they serve; {}: it only forwards.
    std::vector<std::vector<std::size_t>> bridges{};
    /// Links of bridges, by number of gateway.
    std::vector<std::pair<std::size_t, std::size_t>> wires{};
    int streams = 1;
    Time delay = 5ms;                // at most
    std::size_t rate = 64 * 1024;    // bytes that a link takes in a millisecond
    std::size_t room = 1024 * 1024;  // buffer and window of each conduit
    Time failover = 10s, patience = 10min;
    double cut = 0;         // chance that a stream of a link is cut in a millisecond
    bool survives = false;  // the gateways suspect clusters
    std::uint64_t seed = 1;
  };
  /// A frame of the program, as a node has seen it.
  struct Seen {
    std::uint64_t number = 0;
    std::uint8_t flags = 0;
  };

  explicit Grid(Setup setup);

  // ---- the program ----------------------------------------------------------------------------

  /// Returns its number.
  std::uint64_t send(int from, int to, std::size_t size = 8) {
    process(from).to_send.push_back(
        {next_number_, static_cast<NodeId>(to), std::max(size, std::size_t{8})});
    destined_[next_number_] = static_cast<NodeId>(to);
    return next_number_++;
  }
  void send_many(int count, int from, int to, std::size_t size = 8) {
    for (int i = 0; i < count; ++i) send(from, to, size);
  }
  /// The rank keeps what arrives, unconsumed.
  void stall(int rank, bool stalled = true) {
    Process& p = process(rank);
    p.stalled = stalled;
    for (auto& [conduit, size] : stalled ? decltype(p.kept){} : std::exchange(p.kept, {})) {
      conduit->consume(size);
    }
  }

  // ---- the network ----------------------------------------------------------------------------

  int ranks() const { return world_.size(); }
  /// Any of a cluster that has several.
  std::size_t spare_gateway() {
    while (true) {
      const std::size_t gate = below(gates_.size());
      if (setup_.gateways[world_.gateways[gate].clusters.front()] > 1) return gate;
    }
  }
  std::size_t links() const { return links_between_gateways_; }
  /// Its streams are cut, and come back after a while, or never.
  void cut(std::size_t link) { drop(*wires_[link]); }
  void cut_for_good(std::size_t link) {
    wires_[link]->broken = true;
    drop(*wires_[link]);
  }
  void mend(std::size_t link) { wires_[link]->broken = false; }
  /// It carries nothing, and no end learns that.
  void silence(std::size_t link, bool silent = true) {
    wires_[link]->silent = wires_[link]->broken = silent;
  }
  /// No link is silent, no rank stalls.
  void calm() {
    for (std::size_t i = 0; i < links(); ++i) silence(i, false);
    for (int rank = 0; rank < ranks(); ++rank) stall(rank, false);
  }
  void set_rate(std::size_t link, std::size_t bytes_per_ms) { wires_[link]->rate = bytes_per_ms; }
  /// A rank and one of its gateways do not reach each other any more, and know it.
  void cut_off(int rank, std::size_t gate);
  void kill_gateway(std::size_t gate);
  /// Its gateways and processes vanish, and no other node hears why.
  void kill_cluster(std::size_t cluster);
  /// The living gateways hear that it has failed.
  void tell_failed(std::size_t cluster);

  // ---- time -----------------------------------------------------------------------------------

  void run(Time time) {
    for (const Time end = now_ + time; now_ < end;) step();
  }
  /// Until all that was sent has arrived. False: it has not within `limit`.
  bool settle(Time limit) {
    for (const Time end = now_ + limit; now_ < end && failure_.empty(); step()) {
      if (all_arrived()) return true;
    }
    return all_arrived();
  }
  template <class F>
  bool run_until(F condition, Time limit = 60s) {
    for (const Time end = now_ + limit; now_ < end; step()) {
      if (condition()) return true;
    }
    return false;
  }

  void step();

  // ---- what has been seen ---------------------------------------------------------------------

  bool all_arrived() const { return arrived_.size() == destined_.size(); }
  std::size_t arrived() const { return arrived_.size(); }
  bool has_arrived(std::uint64_t number) const { return arrived_.contains(number); }
  /// Frames that arrived again, which an engine drops.
  std::size_t twice() const { return twice_; }
  /// In the order of their arrival at a rank.
  const std::vector<Seen>& arrivals(int rank) const {
    return processes_[static_cast<std::size_t>(rank)]->arrivals;
  }
  /// Frames that came back to their source, a rank.
  const std::set<std::uint64_t>& came_back(int rank) const {
    return processes_[static_cast<std::size_t>(rank)]->came_back;
  }
  std::uint64_t sent_again(int rank) const {
    return processes_[static_cast<std::size_t>(rank)]->ways->sent_again();
  }
  /// Frames that have crossed a link, by number.
  const std::set<std::uint64_t>& crossed(std::size_t link) const { return wires_[link]->crossed; }
  Router& router(std::size_t gate) { return gates_[gate]->router; }
  /// A gateway's warnings to the user.
  const std::vector<std::string>& warnings(std::size_t gate) const {
    return gates_[gate]->warnings;
  }
  /// The clusters that it has suspected.
  const std::set<std::size_t>& suspects(std::size_t gate) const { return gates_[gate]->suspects; }
  int ticks(std::size_t gate) const { return gates_[gate]->ticks; }
  int waits(std::size_t gate) const { return gates_[gate]->waits; }
  int resumed(std::size_t gate) const { return gates_[gate]->resumed; }
  /// Why the job is over; empty while it is not.
  const std::string& failure() const { return failure_; }
  Time now() const { return now_; }
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }

 private:
  struct Gate {
    explicit Gate(RouterConfig config) : node(config.self), router(config) {}
    NodeId node;
    Router router;
    bool dead = false;
    Time tick_at{};
    int ticks = 0;
    std::vector<std::string> warnings;
    std::set<std::size_t> suspects;
    int waits = 0, resumed = 0;
  };
  struct ToSend {
    std::uint64_t number;
    NodeId to;
    std::size_t size;
  };
  struct Process {
    NodeId node = kNobody;
    std::vector<Conduit*> conduits;  // by gate
    std::optional<Ways> ways;
    std::deque<ToSend> to_send;
    bool stalled = false, repeats = false, dead = false;
    std::vector<std::pair<Conduit*, std::size_t>> kept;
    std::vector<Seen> arrivals;
    std::set<std::uint64_t> came_back;
  };
  struct End {
    Gate* gate = nullptr;
    Router::Neighbour* neighbour = nullptr;  // of a gate: the neighbour at the other end
    Process* process = nullptr;
    std::size_t index = 0;  // of a process: which of its gates
    std::unique_ptr<Conduit> conduit;
    bool told_dead = false;
  };
  struct Chunk {
    Time at;
    std::vector<std::byte> bytes;
  };
  struct Stream {
    bool up = false;
    Time again{};
    StreamId id[2]{};
    std::deque<Chunk> wire[2];         // towards end i
    std::vector<std::byte> unread[2];  // arrived at end i, not yet a whole frame
    std::vector<std::byte> unsent[2];  // from end i
  };
  struct Wire {
    End end[2];
    std::vector<Stream> streams;
    bool local = false, broken = false, silent = false;
    std::size_t rate = 0;
    std::set<std::uint64_t> crossed;
  };

  Process& process(int rank) { return *processes_[static_cast<std::size_t>(rank)]; }

  // In router_testbed_making.cpp.
  void join_gateways();
  void join(std::size_t i, std::size_t j);
  void find_routes();
  void join_process(int rank);
  Wire& add_wire(NodeId a, NodeId b, Time patience);

  // In router_testbed_network.cpp.
  void move(Wire& wire);
  void tick(Wire& wire, End& end);
  void report(Wire& wire, End& end);
  void connect(Wire& wire, Stream& stream);
  void drop(Wire& wire);
  void drop(Wire& wire, Stream& stream);
  void write(Wire& wire, Stream& stream, int end, std::size_t& left);
  static std::shared_ptr<Packet> apart(const End& at, StreamId id, std::vector<std::byte>& unread);
  void read(Wire& wire, Stream& stream, int end);

  // In router_testbed_nodes.cpp.
  static std::uint64_t number_of(const InFrame& frame);
  void note(Wire& wire, const End& at, const InFrame& frame);
  bool take(Process& p, End& at, const InFrame& frame);
  void pump(Process& p);
  void lose_gate(Process& p, std::size_t index);
  static void tell(Conduit& conduit, const Router::Action& action);
  static Router::Action told(const InFrame& frame);
  void hear(Process& p, std::size_t index, const InFrame& frame);
  static bool lose(Process& p, std::size_t index, const Router::Action& lost);
  static void hear(Gate& gate, Router::Neighbour& from, const InFrame& frame);
  void act(Gate& gate);
  void fail(const std::string& sentence);
  void check_memory();

  Setup setup_;
  std::mt19937_64 random_;
  World world_;
  Time now_{};
  std::vector<std::unique_ptr<Gate>> gates_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Wire>> wires_;  // between gateways first
  std::size_t links_between_gateways_ = 0;
  std::vector<std::size_t> order_;
  static constexpr int kFar = 1000;
  std::vector<Routes> next_;                              // by gateway
  std::map<std::size_t, std::vector<std::size_t>> near_;  // linked with a gateway

  std::uint64_t next_number_ = 0;
  std::map<std::uint64_t, NodeId> destined_;
  std::set<std::uint64_t> arrived_;
  std::set<std::tuple<const Conduit*, std::uint64_t, std::uint8_t>> delivered_;
  std::size_t twice_ = 0;
  std::string failure_;
};

}  // namespace isthmus::core
