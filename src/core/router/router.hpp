// A gateway's choice of ways: the next neighbour of a frame, the frames that wait for room, those
// that return when a way is lost, and those sent again. A pure state machine over the conduits of
// the neighbours: events are calls, and poll() returns what to do, until nothing is left. Its owner
// moves the conduits' bytes, prints messages for people, and gives the time.
//
// A frame whose next conduit is full is kept, charged to the window of the conduit it came by. So a
// slow receiver holds back its own senders. Others that share a link with them are held back only
// once the whole window of that link waits (the end-to-end windows of messages keep it from that).
// Acknowledgements never wait behind data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/conduit/conduit.hpp"
#include "core/router/held_frames.hpp"
#include "core/router/route_table.hpp"
#include "core/wire/frame.hpp"
#include "core/world/world.hpp"

namespace isthmus::core {

struct RouterConfig {
  NodeId self = kNobody;
  /// A silent way is given up after this long if the grid has others.
  Time failover = std::chrono::seconds(10);
  /// The run goes on without clusters that fail. Once open, the router suspects a cluster that no
  /// way from here reaches. Its frames are dropped, unless other gateways may reach it. The
  /// launcher decides which cluster has failed.
  bool survives = false;
};

class Router {
 public:
  /// The silence of a way.
  struct Silence {
    bool begun = false;               ///< its streams are given up
    Time length{};                    ///< when last looked at
    Time told{};                      ///< to the user
    Time asked{};                     ///< the processes, for other ways
    std::set<std::size_t> elsewhere;  ///< clusters that other gateways still reach
  };

  /// A process of this cluster, or another gateway. Its owner reads what is here, and changes it
  /// by the functions below.
  struct Neighbour {
    NodeId node = kNobody;
    Conduit* conduit = nullptr;
    std::string run{};       ///< the other run whose gateway it is, with numbers of its own
    bool left = false;       ///< said Bye
    bool gone = false;       ///< its conduit is dead
    bool unflushed = false;  ///< poll() will return Flush
    HeldFrames held;         ///< wait for room towards it
    std::uint64_t messages = 0, bytes = 0;  ///< sent
    Silence silence;

    bool open() const { return !left && !gone && conduit->dead().empty(); }
    bool heard() const { return !silence.begun && conduit->connected(); }
  };

  explicit Router(RouterConfig config);

  // ---- events -------------------------------------------------------------------------------

  /// A neighbour is connected, or about to be. The conduit outlives the router, or lost() is called
  /// for it.
  Neighbour& add(NodeId node, Conduit& conduit);
  /// As `add`: a gateway of another run whose processes are guests here. Their frames cross it with
  /// the receiving run's numbers for the destination and the sending run's for the source.
  Neighbour& add_junction(NodeId node, Conduit& conduit, const std::string& run);
  /// A neighbour that serves no process has restarted, and `conduit` replaces the dead one, which
  /// may go. Frames that the dead one had not delivered go again.
  void renew(Neighbour& neighbour, Conduit& conduit);
  /// That run has left: frames for its guests are dropped.
  void part(const std::string& run);
  /// The grid is known. `next`: destination cluster index to the neighbouring gateways for frames
  /// there, the best first; clusters that this one serves need no entry.
  void learn_world(World world, Routes next);
  /// The world has grown. Ways to the new cluster are those to the cluster that it is `like`; ways
  /// to guests are the junctions that have been added. If it is like none, `next` are the ways to
  /// its gateways, as of learn_world. False: that was known. Throws as World::grow, and before the
  /// world is known.
  bool grow(const Growth& growth, std::vector<NodeId> next = {});
  /// The world has a further gateway, for clusters to come.
  void extend(NodeId node, const std::string& name);
  /// Forgets such a gateway, which never serves a cluster.
  void abandon(NodeId node) { abandoned_.insert(node); }
  /// A cluster has failed, for good. Frames to and from it are dropped. Its processes have left,
  /// and gateways that serve only such clusters are lost. False: that was known, or there is none.
  bool forget(std::size_t cluster);
  /// All processes have joined: from now on the grid may go on without a way.
  void open() { opened_ = true; }
  /// The job is over: frames are dropped, and poll() returns nothing more.
  void stop() { stopped_ = true; }

  /// A routed frame has arrived, as for Conduit::Sink. True: consumed.
  bool take(Neighbour& from, const InFrame& frame, std::uint16_t hops);
  /// A conduit has been read or written: there may be room in it, or acknowledgements.
  void progress(Neighbour& neighbour);
  /// Something was submitted to its conduit.
  void submitted(Neighbour& neighbour);
  /// It has said Bye, and needs nothing more.
  void left(Neighbour& neighbour);
  /// Its conduit is dead; the user gets `sentence`, unless the user knows of others like it.
  void lost(Neighbour& neighbour, const std::string& sentence, bool known = false);
  /// Another gateway does not reach a cluster any more; or, of a cluster, a process.
  void learn_lost(Neighbour& from, std::size_t cluster, const std::string& sentence);
  void learn_cut_off(Neighbour& from, NodeId process, const std::string& sentence);
  /// A process knows another gateway that reaches the cluster.
  void learn_other(std::size_t cluster);
  /// Checks the silent neighbours.
  void tick(Time now);
  /// When to call tick() next, given when it was called last. It is earlier only if a neighbour has
  /// been added or renewed since, or its conduit's patience has changed. Time::max(): never.
  Time next_tick() const;

  // ---- actions for the owner ----------------------------------------------------------------

  struct Action {
    enum class What : std::uint8_t {
      Flush,  ///< write what the neighbour's conduit has; then call progress()
      Lost,   ///< to all: this gateway does not reach `cluster` any more, or its `process`, if that
              ///< is not kNobody; `sentence`
      Silent,   ///< to the processes: `cluster` is silent; with `ask`, ask for others
      Heard,    ///< to the processes: the silence is over
      Waiting,  ///< to the user: the neighbour is silent, and the job waits
      Resumed,  ///< to the user: the neighbour is heard again
      Warn,     ///< to the user: the job goes on; `sentence`
      Suspect,  ///< to the launcher: no way from here reaches `cluster`; `sentence`. Once for each
      Fail,     ///< the job cannot go on; `sentence`. Once, and only Flush follows it
    } what{};
    Neighbour* neighbour = nullptr;
    std::size_t cluster = 0;
    NodeId process = kNobody;
    bool ask = false;
    Time length{};  ///< of the silence
    std::string sentence{};
  };
  /// The next thing to do, in order. Empty: all is done.
  std::optional<Action> poll();

  /// The traffic from processes of one cluster to those of another, both served here.
  struct Crossing {
    std::uint64_t messages = 0, frames = 0, bytes = 0, wire_bytes = 0;
  };
  using Crossings = std::map<std::pair<std::size_t, std::size_t>, Crossing>;

  // ---- figures ------------------------------------------------------------------------------

  const std::optional<World>& world() const { return world_; }
  /// The clusters whose processes are its neighbours, by index; empty before the world is known.
  const std::vector<std::size_t>& clusters() const { return clusters_; }
  bool opened() const { return opened_; }
  /// A process of a cluster that has failed, a gateway of such clusters alone, or one that was
  /// abandoned.
  bool forgotten(NodeId node) const;
  bool forgotten_cluster(std::size_t cluster) const { return forgotten_.contains(cluster); }
  Neighbour* find(NodeId node) const;
  /// Frames that went back, or on by another way, since theirs was lost.
  std::uint64_t redirected() const { return redirected_; }
  const Crossings& crossings() const { return crossings_; }
  /// Frames that wait here for room, and their bytes.
  std::pair<std::size_t, std::size_t> held() const;

 private:
  // router.cpp
  Neighbour* next_hop(NodeId process, bool bulk, std::string& trouble) const;
  bool serves(std::size_t cluster) const;
  bool pass_on(Neighbour& to, NodeId from, const InFrame& frame, std::uint16_t hops);
  void forward(Neighbour& to, const InFrame& frame, std::uint16_t hops);
  std::vector<NodeId> junctions_to(const std::string& run) const;
  bool admit(const Neighbour& junction, InFrame& frame) const;
  bool parted(NodeId process) const;
  bool dropped(const InFrame& frame) const;
  bool keeps_custody(NodeId node) const;
  void release(Neighbour& to);
  void relieve(Neighbour& to);
  void consume(NodeId from, std::size_t body);
  void settle(const Receipt& receipt);
  void settle_passed_on(Neighbour& to);
  void say(Action action);
  void fail(const std::string& sentence);
  std::string name(NodeId node) const;

  // router_ways.cpp
  Neighbour* way(std::size_t cluster, NodeId process, bool bulk) const;
  bool has_way(std::size_t cluster, bool heard) const;
  bool is_way(const Neighbour& neighbour, std::size_t cluster, NodeId process = kNobody) const;
  bool lose_process(NodeId process, const std::string& sentence);
  bool lose_way(std::size_t cluster, const std::string& sentence, bool elsewhere);
  bool has_fellows() const;
  void salvage(Neighbour& neighbour);
  Neighbour* redirect(NodeId from, InFrame& frame, std::uint16_t& hops, std::string& trouble);
  bool watched(NodeId node, const Neighbour& neighbour) const;
  void watch(Neighbour& neighbour);
  void tell_processes(Action::What what, const Neighbour& of, bool ask);
  void give_up(Neighbour& neighbour);

  // router_failures.cpp
  void drop_held();
  void lose_ways_of_forgotten(std::size_t cluster);
  bool suspect(std::size_t cluster, const std::string& sentence);
  bool drops_unreachable() const;

  RouterConfig config_;
  std::optional<World> world_;
  std::vector<std::size_t> clusters_;
  bool opened_ = false, stopped_ = false;
  Time now_{};  // of the last tick
  RouteTable routes_;
  // Clusters that this gateway does not reach any more, with the reason; single processes, which
  // other gateways of their cluster reach.
  std::map<std::size_t, std::string> unreachable_;
  std::set<NodeId> cut_off_;
  std::map<NodeId, std::unique_ptr<Neighbour>> neighbours_;
  std::set<std::string> parted_;                 // runs
  std::set<std::size_t> forgotten_, suspected_;  // clusters
  std::set<NodeId> abandoned_;                   // gateways
  bool drops_ = false;                           // some run has parted, or some cluster has failed

  std::deque<Action> actions_;
  std::vector<Neighbour*> salvaged_;  // to be salvaged, after the earlier actions
  std::vector<Neighbour*> unflushed_;
  std::uint64_t redirected_ = 0;
  Crossings crossings_;
};

}  // namespace isthmus::core
