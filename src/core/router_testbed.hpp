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

#include "core/router.hpp"
#include "core/ways.hpp"

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
    double cut = 0;  // chance that a stream of a link is cut in a millisecond
    std::uint64_t seed = 1;
  };
  /// A frame of the program, as a node has seen it.
  struct Seen {
    std::uint64_t number = 0;
    std::uint8_t flags = 0;
  };

  explicit Grid(Setup setup) : setup_(std::move(setup)), random_(setup_.seed) {
    int first = 0;
    for (std::size_t c = 0; c < setup_.sizes.size(); ++c) {
      world_.clusters.push_back({"c" + std::to_string(c), first, setup_.sizes[c]});
      first += setup_.sizes[c];
      for (int i = 0; i < setup_.gateways[c]; ++i) {
        const NodeId node = kFirstGateway + static_cast<NodeId>(gates_.size());
        world_.gateways.push_back({node, {c}, {}});
        gates_.push_back(std::make_unique<Gate>(RouterConfig{node, setup_.failover}));
      }
    }
    for (const auto& clusters : setup_.bridges) {
      const NodeId node = kFirstGateway + static_cast<NodeId>(gates_.size());
      world_.gateways.push_back({.node = node, .clusters = clusters, .name = "bridge"});
      gates_.push_back(std::make_unique<Gate>(RouterConfig{node, setup_.failover}));
    }
    join_gateways();
    for (int r = 0; r < world_.size(); ++r) join_process(r);
    for (std::size_t g = 0; g < gates_.size(); ++g) gates_[g]->router.learn_world(world_, next_[g]);
    run(100ms);
    for (auto& gate : gates_) gate->router.open();
  }

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
  /// Nothing moves on it, and nobody is told.
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
  void cut_off(int rank, std::size_t gate) {
    for (auto& wire : wires_) {
      if (wire->end[0].process != &process(rank) || wire->end[1].gate != gates_[gate].get())
        continue;
      wire->broken = true;
      drop(*wire);
      lose_gate(process(rank), wire->end[0].index);
      wire->end[1].conduit->fail("goes on without this gateway");
      report(*wire, wire->end[1]);
    }
  }
  void kill_gateway(std::size_t gate) {
    gates_[gate]->dead = true;
    for (auto& wire : wires_) {
      if (wire->end[0].gate != gates_[gate].get() && wire->end[1].gate != gates_[gate].get()) {
        continue;
      }
      wire->broken = true;
      drop(*wire);
      End& other = wire->end[wire->end[0].gate == gates_[gate].get() ? 1 : 0];
      if (other.process != nullptr) lose_gate(*other.process, other.index);
    }
  }

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

  void step() {
    now_ += 1ms;
    for (std::size_t i = wires_.size(); i > 1; --i) std::swap(order_[i - 1], order_[below(i)]);
    for (const std::size_t i : order_) move(*wires_[i]);
    for (auto& p : processes_) pump(*p);
    if (now_ % 100ms == 0ms) {
      for (auto& gate : gates_) {
        if (gate->dead) continue;
        gate->router.tick(now_);
        act(*gate);
      }
    }
    check_memory();
  }

  // ---- what has been seen ---------------------------------------------------------------------

  bool all_arrived() const { return arrived_.size() == destined_.size(); }
  std::size_t arrived() const { return arrived_.size(); }
  /// Frames that arrived again, which an engine drops.
  std::size_t twice() const { return twice_; }
  /// In the order of their arrival at a rank.
  const std::vector<Seen>& arrivals(int rank) const {
    return processes_[static_cast<std::size_t>(rank)]->arrivals;
  }
  /// Those that came back to their source, a rank.
  const std::set<std::uint64_t>& came_back(int rank) const {
    return processes_[static_cast<std::size_t>(rank)]->came_back;
  }
  std::uint64_t sent_again(int rank) const {
    return processes_[static_cast<std::size_t>(rank)]->ways->sent_again();
  }
  /// Those that have crossed a link, by number.
  const std::set<std::uint64_t>& crossed(std::size_t link) const { return wires_[link]->crossed; }
  Router& router(std::size_t gate) { return gates_[gate]->router; }
  /// What a gateway has told the user: warnings.
  const std::vector<std::string>& warnings(std::size_t gate) const {
    return gates_[gate]->warnings;
  }
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
    std::vector<std::string> warnings;
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
    bool stalled = false, repeats = false;
    std::vector<std::pair<Conduit*, std::size_t>> kept;
    std::vector<Seen> arrivals;
    std::set<std::uint64_t> came_back;
  };
  struct End {
    Gate* gate = nullptr;
    Router::Neighbour* neighbour = nullptr;  // of a gate: who is at the other end
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

  // ---- making ---------------------------------------------------------------------------------

  void join_gateways() {
    const std::size_t clusters = setup_.sizes.size();
    std::vector<std::vector<std::size_t>> of(clusters);
    const std::size_t single = gates_.size() - setup_.bridges.size();
    for (std::size_t g = 0; g < single; ++g) of[world_.gateways[g].clusters[0]].push_back(g);
    const std::size_t pairs = clusters - (setup_.ring && clusters > 2 ? 0 : 1);
    for (std::size_t a = 0; a < pairs; ++a) {
      const std::size_t b = (a + 1) % clusters;
      for (std::size_t k = 0; k < std::max(of[a].size(), of[b].size()); ++k) {
        if (of[a].empty() || of[b].empty()) break;
        join(of[a][k % of[a].size()], of[b][k % of[b].size()]);
      }
    }
    for (const auto& [i, j] : setup_.wires) join(i, j);
    links_between_gateways_ = wires_.size();
    find_routes();
  }

  void join(std::size_t i, std::size_t j) {
    Wire& wire = add_wire(gates_[i]->node, gates_[j]->node, setup_.patience);
    wire.end[0].gate = gates_[i].get();
    wire.end[1].gate = gates_[j].get();
    for (int end = 0; end < 2; ++end) {
      End& other = wire.end[1 - end];
      wire.end[end].neighbour =
          &wire.end[end].gate->router.add(other.gate->node, *wire.end[end].conduit);
    }
    wire.rate = setup_.rate;
    near_[i].push_back(j);
    near_[j].push_back(i);
  }

  // All neighbours that are nearer to a cluster are ways there.
  void find_routes() {
    next_.resize(gates_.size());
    for (Gateway& gateway : world_.gateways) gateway.hops.assign(world_.clusters.size(), kFar);
    for (std::size_t c = 0; c < world_.clusters.size(); ++c) {
      std::deque<std::size_t> queue;
      for (std::size_t g = 0; g < gates_.size(); ++g) {
        if (!world_.gateways[g].serves(c)) continue;
        world_.gateways[g].hops[c] = 0;
        queue.push_back(g);
      }
      while (!queue.empty()) {
        const std::size_t g = queue.front();
        queue.pop_front();
        for (const std::size_t near : near_[g]) {
          int& hops = world_.gateways[near].hops[c];
          if (hops == kFar) queue.push_back(near);
          if (hops > world_.gateways[g].hops[c]) {
            hops = world_.gateways[g].hops[c] + 1;
            next_[near][c].push_back(gates_[g]->node);
          }
        }
      }
    }
  }

  void join_process(int rank) {
    auto made = std::make_unique<Process>();
    Process& p = *made;
    processes_.push_back(std::move(made));
    p.node = static_cast<NodeId>(rank);
    const std::size_t cluster = world_.cluster_of(rank);
    std::vector<std::vector<int>> hops;
    for (auto& gate : gates_) {
      if (!world_.gateway(gate->node)->serves(cluster)) continue;
      Wire& wire = add_wire(p.node, gate->node, Time::zero());
      wire.local = true;
      wire.rate = 1U << 20;
      wire.end[0].process = &p;
      wire.end[0].index = p.conduits.size();
      wire.end[1].gate = gate.get();
      wire.end[1].neighbour = &gate->router.add(p.node, *wire.end[1].conduit);
      p.conduits.push_back(wire.end[0].conduit.get());
      hops.push_back(world_.gateway(gate->node)->hops);
    }
    p.ways.emplace(p.conduits.size(), world_.clusters.size());
    for (std::size_t i = 0; i < p.conduits.size(); ++i) {
      p.ways->connect(i, *p.conduits[i]);
      p.ways->set_hops(i, hops[i]);
    }
  }

  Wire& add_wire(NodeId a, NodeId b, Time patience) {
    wires_.push_back(std::make_unique<Wire>());
    order_.push_back(order_.size());
    Wire& wire = *wires_.back();
    wire.streams.resize(patience > Time::zero() ? static_cast<std::size_t>(setup_.streams) : 1);
    for (int end = 0; end < 2; ++end) {
      ConduitConfig config;
      config.self = end == 0 ? a : b;
      config.peer = end == 0 ? b : a;
      config.session = 1 + wires_.size();
      config.software = "0.test";
      config.patience = patience;
      config.buffer = config.window = std::max(setup_.room, kHeaderSize + kMaxBody);
      // Kept until it has arrived at the other process.
      if (patience == Time::zero() && end == 0 && world_.has_spare_gateways()) config.buffer *= 16;
      config.queue = std::min(config.queue, setup_.room / 2);
      wire.end[end].conduit = std::make_unique<Conduit>(config, now_);
    }
    return wire;
  }

  // ---- bytes ----------------------------------------------------------------------------------

  void move(Wire& wire) {
    for (End& end : wire.end) {
      if (!end.gate || !end.gate->dead) tick(wire, end);
    }
    std::size_t left[2] = {wire.rate, wire.rate};
    for (Stream& stream : wire.streams) {
      if (!stream.up) {
        if (now_ >= stream.again) connect(wire, stream);
        continue;
      }
      if (!wire.local && chance(setup_.cut)) {
        drop(wire, stream);
        continue;
      }
      for (int end = 0; end < 2 && !wire.silent; ++end) {
        write(wire, stream, end, left[end]);
        if (stream.up) read(wire, stream, end);
      }
    }
    for (End& end : wire.end) {
      if (end.gate != nullptr && !end.gate->dead) {
        end.gate->router.progress(*end.neighbour);
        act(*end.gate);
      }
    }
  }

  void tick(Wire& wire, End& end) {
    const auto due = end.conduit->deadline();
    if (due && *due <= now_) {
      for (const StreamId id : end.conduit->tick(now_)) {
        for (Stream& stream : wire.streams) {
          if (stream.up && stream.id[&end - wire.end] == id) drop(wire, stream);
        }
      }
    }
    report(wire, end);
  }

  // As a driver tells its owner.
  void report(Wire& wire, End& end) {
    if (end.conduit->dead().empty() || std::exchange(end.told_dead, true)) return;
    drop(wire);
    if (end.gate == nullptr) return;
    end.gate->router.lost(*end.neighbour, "the link from " + world_.name_of(end.gate->node) +
                                              " to " + world_.name_of(end.neighbour->node) +
                                              " is lost: the other end " + end.conduit->dead());
    act(*end.gate);
  }

  void connect(Wire& wire, Stream& stream) {
    if (wire.broken || !wire.end[0].conduit->dead().empty() ||
        !wire.end[1].conduit->dead().empty()) {
      return;
    }
    stream = {};
    stream.up = true;
    for (int end = 0; end < 2; ++end) stream.id[end] = wire.end[end].conduit->stream_up(now_);
  }

  void drop(Wire& wire) {
    for (Stream& stream : wire.streams) drop(wire, stream);
  }
  void drop(Wire& wire, Stream& stream) {
    if (!std::exchange(stream.up, false)) return;
    stream.again = now_ + Time(1ms) * static_cast<int>(1 + below(200));
    for (int end = 0; end < 2; ++end) wire.end[end].conduit->stream_down(stream.id[end]);
  }

  void write(Wire& wire, Stream& stream, int end, std::size_t& left) {
    auto& unsent = stream.unsent[end];
    if (unsent.empty()) {
      std::vector<PacketPtr> packets;
      wire.end[end].conduit->output(stream.id[end], now_, std::max<std::size_t>(1, left), packets);
      for (const auto& packet : packets) {
        unsent.insert(unsent.end(), packet->bytes().begin(), packet->bytes().end());
      }
    }
    const std::size_t n = std::min(unsent.size(), left);
    if (n == 0) return;
    left -= n;
    auto& line = stream.wire[1 - end];
    Time at = now_;
    if (!wire.local) at += Time(below(static_cast<std::size_t>(setup_.delay.count()) + 1));
    if (!line.empty()) at = std::max(at, line.back().at);
    const auto stop = unsent.begin() + static_cast<std::ptrdiff_t>(n);
    line.push_back({at, {unsent.begin(), stop}});
    unsent.erase(unsent.begin(), stop);
  }

  void read(Wire& wire, Stream& stream, int end) {
    auto& line = stream.wire[end];
    auto& unread = stream.unread[end];
    while (!line.empty() && line.front().at <= now_) {
      unread.insert(unread.end(), line.front().bytes.begin(), line.front().bytes.end());
      line.pop_front();
    }
    if (unread.empty()) return;
    End& at = wire.end[end];
    const auto result = at.conduit->input(stream.id[end], unread, now_,
                                          [&](const InFrame& frame, std::uint16_t hops) {
                                            if (is_routed(frame.kind)) note(wire, at, frame);
                                            if (at.process != nullptr)
                                              return take(*at.process, at, frame);
                                            if (frame.kind == FrameKind::Control) {
                                              hear(*at.gate, *at.neighbour, frame);
                                              return true;
                                            }
                                            return at.gate->router.take(*at.neighbour, frame, hops);
                                          });
    EXPECT_EQ(result.outcome, Conduit::Outcome::Good) << result.reason;
    unread.erase(unread.begin(), unread.begin() + static_cast<std::ptrdiff_t>(result.used));
  }

  // ---- what nodes do --------------------------------------------------------------------------

  static std::uint64_t number_of(const InFrame& frame) {
    std::uint64_t number = 0;
    EXPECT_GE(frame.body.size(), 8U);
    std::memcpy(&number, frame.body.data(), 8);
    return number;
  }

  // A conduit delivers each frame once, whatever its streams do. A frame that is on its way back,
  // or goes again, is another one for it.
  void note(Wire& wire, const End& at, const InFrame& frame) {
    const std::uint64_t number = number_of(frame);
    wire.crossed.insert(number);
    const auto id = std::tuple(at.conduit.get(), number, frame.flags);
    EXPECT_TRUE(delivered_.insert(id).second || frame.flags != 0)
        << "frame " << number << " twice by one conduit";
    for (const std::byte b : frame.body.subspan(8)) {
      if (b != static_cast<std::byte>(number * 7)) {
        ADD_FAILURE() << "frame " << number << " has changed";
        break;
      }
    }
  }

  bool take(Process& p, End& at, const InFrame& frame) {
    if (frame.kind == FrameKind::Control) {
      hear(p, at.index, frame);
      return true;
    }
    const std::uint64_t number = number_of(frame);
    if ((frame.flags & kReturned) != 0) {
      EXPECT_EQ(frame.source, p.node);
      p.came_back.insert(number);
      p.ways->keep_returned(at.index, frame);
      return true;
    }
    EXPECT_EQ(frame.destination, p.node);
    EXPECT_EQ(destined_[number], p.node);
    p.repeats = p.repeats || (frame.flags & kRepeated) != 0;
    p.arrivals.push_back({number, frame.flags});
    if (!arrived_.insert(number).second) {
      ++twice_;
      EXPECT_TRUE(p.repeats) << "frame " << number << " twice, though none was sent again";
    }
    if (!p.stalled) return true;
    p.kept.emplace_back(at.conduit.get(), frame.body.size());
    return false;
  }

  void pump(Process& p) {
    const auto way = [&](NodeId to, bool bulk) -> Conduit* {
      const std::size_t gate = p.ways->to(world_.cluster_of_node(to), to, bulk);
      return gate == Ways::kNone ? nullptr : p.conduits[gate];
    };
    (void)p.ways->send_again(p.node, way);
    while (!p.ways->waits() && !p.to_send.empty()) {
      const ToSend next = p.to_send.front();
      Conduit* const conduit = way(next.to, next.size > kExpressBody);
      if (conduit == nullptr) return;
      p.to_send.pop_front();
      std::vector<std::byte> payload(next.size - 8, static_cast<std::byte>(next.number * 7));
      OutFrame frame;
      frame.kind = FrameKind::Piece;
      frame.source = p.node;
      frame.destination = next.to;
      std::memcpy(frame.head.data(), &next.number, 8);
      frame.head_size = 8;
      frame.payload = payload;
      conduit->submit(frame);
    }
  }

  void lose_gate(Process& p, std::size_t index) {
    if (!p.ways->lose_gate(index)) fail("rank " + std::to_string(p.node) + " has no gateway left");
  }

  // Control frames: what, cluster, process, ask, sentence.
  static void tell(Conduit& conduit, const Router::Action& action) {
    std::string text{static_cast<char>(action.what), static_cast<char>(action.cluster),
                     static_cast<char>(action.process), static_cast<char>(action.ask)};
    text += action.sentence;
    OutFrame frame;
    frame.kind = FrameKind::Control;
    frame.source = conduit.config().self;
    frame.destination = conduit.config().peer;
    frame.payload = std::as_bytes(std::span(text));
    conduit.submit(frame);
  }
  static Router::Action told(const InFrame& frame) {
    const std::string text(reinterpret_cast<const char*>(frame.body.data()), frame.body.size());
    Router::Action action{.what = static_cast<Router::Action::What>(text.at(0))};
    action.cluster = static_cast<std::size_t>(text.at(1));
    if (text.at(2) != -1) action.process = static_cast<NodeId>(text.at(2));
    action.ask = text.at(3) != 0;
    action.sentence = text.substr(4);
    return action;
  }

  void hear(Process& p, std::size_t index, const InFrame& frame) {
    using What = Router::Action::What;
    const Router::Action action = told(frame);
    if (action.what == What::Lost && !lose(p, index, action)) fail(action.sentence);
    if (action.what == What::Heard) p.ways->heard(index, action.cluster);
    if (action.what != What::Silent) return;
    // An answer, in the same form: another of its gateways reaches the cluster.
    const bool reached = p.ways->fall_silent(index, action.cluster);
    if (reached && action.ask) tell(*p.conduits[index], action);
  }

  static bool lose(Process& p, std::size_t index, const Router::Action& lost) {
    return lost.process == kNobody ? p.ways->lose(index, lost.cluster)
                                   : p.ways->lose_process(index, lost.cluster, lost.process);
  }

  static void hear(Gate& gate, Router::Neighbour& from, const InFrame& frame) {
    const Router::Action action = told(frame);
    if (is_gateway(from.node) && action.process != kNobody) {
      gate.router.learn_cut_off(from, action.process, action.sentence);
    } else if (is_gateway(from.node)) {
      gate.router.learn_lost(from, action.cluster, action.sentence);
    } else {
      gate.router.learn_other(action.cluster);
    }
  }

  void act(Gate& gate) {
    using What = Router::Action::What;
    while (const auto action = gate.router.poll()) {
      switch (action->what) {
        case What::Flush:
          gate.router.progress(*action->neighbour);
          break;
        case What::Lost:
        case What::Silent:
        case What::Heard:
          for (auto& wire : wires_) {
            for (int end = 0; end < 2; ++end) {
              if (wire->end[end].gate != &gate || !wire->end[end].neighbour->open()) continue;
              if (!wire->local && action->what != What::Lost) continue;
              tell(*wire->end[end].conduit, *action);
            }
          }
          break;
        case What::Waiting:
          ++gate.waits;
          break;
        case What::Resumed:
          ++gate.resumed;
          break;
        case What::Warn:
          gate.warnings.push_back(action->sentence);
          break;
        case What::Fail:
          fail(action->sentence);
          break;
      }
    }
  }

  void fail(const std::string& sentence) {
    if (failure_.empty()) failure_ = sentence;
  }

  // What waits in a gateway is charged to the windows of its neighbours, or was in the buffer of a
  // conduit that is lost.
  void check_memory() {
    for (auto& gate : gates_) {
      if (gate->dead) continue;
      std::size_t bound = 0;
      for (auto& wire : wires_) {
        for (const End& end : wire->end) {
          if (end.gate != gate.get()) continue;
          const auto& config = end.conduit->config();
          bound += config.window;
          if (!end.conduit->dead().empty()) bound += config.buffer + config.window;
          // Beyond its buffer goes what was being taken, and what must get through.
          if (end.conduit->dead().empty()) {
            ASSERT_LE(end.conduit->buffered(), config.buffer + 2 * kMaxBody);
          }
        }
      }
      ASSERT_LE(gate->router.held().second, bound);
    }
  }

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
