// A process's choice of ways: the gateway of its cluster for each frame, and the frames that go
// again since their way was lost (docs/protocol.md, "When a way is lost"). A pure state machine
// over the conduits to the gateways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/conduit/conduit.hpp"
#include "core/wire/frame.hpp"

namespace isthmus::core {

class Ways {
 public:
  Ways(std::size_t gates, std::size_t clusters) : gates_(gates), clusters_(clusters) {}

  /// The gateway is connected, by a conduit that outlives this.
  void connect(std::size_t gate, Conduit& conduit) { gates_[gate].conduit = &conduit; }
  /// The number of links between the gateway and each cluster; empty: not known.
  void set_hops(std::size_t gate, std::vector<int> hops) { gates_[gate].hops = std::move(hops); }

  /// The world has a further cluster, which is as far from each gateway as another.
  void grow_like(std::size_t like);
  /// The world has a further cluster; `hops` as of set_hops, for each gateway.
  void grow(const std::vector<int>& hops);

  /// Frames to the cluster by this link take these gates, while one reaches it.
  void set_link(LinkChoice link, std::size_t cluster, const std::vector<std::size_t>& gates);

  static constexpr std::size_t kNone = SIZE_MAX;
  /// The gate for a frame to a process of a cluster now, or kNone. It reaches the cluster over the
  /// fewest links and has room, and its backlog is the smallest. Among equals it is the first from
  /// number `process` on.
  std::size_t to(std::size_t cluster, NodeId process, bool bulk, LinkChoice link = kAnyLink) const;
  /// The first of them, from number `process` on, with room or without. Or kNone.
  std::size_t reaching(std::size_t cluster, NodeId process) const;

  // ---- reports of gateways. False: no gateway is left that reaches the cluster -----------------

  [[nodiscard]] bool lose(std::size_t gate, std::size_t cluster);
  /// It does not reach this process any more, though others of the cluster.
  [[nodiscard]] bool lose_process(std::size_t gate, std::size_t cluster, NodeId process);
  /// The conduit is gone, and with it this way to all clusters. Undelivered frames are kept to go
  /// again.
  [[nodiscard]] bool lose_gate(std::size_t gate);
  /// The gateway hears nothing of the cluster for now. False: nor do others.
  bool fall_silent(std::size_t gate, std::size_t cluster);
  void heard(std::size_t gate, std::size_t cluster) { gates_[gate].silent.erase(cluster); }

  // ---- what goes again -------------------------------------------------------------------------

  /// A frame may not have arrived.
  void keep(const InFrame& frame);
  /// A frame came back by a gate, which does not reach its destination any more. The gate reports
  /// that with the reason, but maybe later: the owner waits for the report if it has no other way.
  void keep_returned(std::size_t gate, const InFrame& frame);
  void keep_all(const Conduit& conduit);
  bool waits() const { return !again_.empty(); }
  /// Drops what is kept for these processes, now and later: their cluster has failed.
  void forget(NodeId first, NodeId count);
  /// Submits what was kept, where `way` gives conduits for it. Before anything new. True: something
  /// went.
  bool send_again(NodeId self, const std::function<Conduit*(NodeId to, bool bulk)>& way);
  std::uint64_t sent_again() const { return sent_again_; }

 private:
  struct Gate {
    Conduit* conduit = nullptr;
    std::vector<int> hops;  // to each cluster
    bool gone = false;

    bool reaches(std::size_t cluster, NodeId process) const {
      return !lost.contains(cluster) && !cut_off.contains(process);
    }
    std::set<std::size_t> lost;    // clusters that it does not reach any more
    std::set<NodeId> cut_off;      // processes that it does not
    std::set<std::size_t> silent;  // clusters that are silent there at present
  };
  struct Kept {
    FrameKind kind{};
    NodeId destination = kNobody;
    std::vector<std::byte> body;
  };

  int hops(const Gate& gate, std::size_t cluster) const;
  bool forgotten(NodeId process) const;
  using Among = std::vector<bool>;  // by gate
  int fewest_hops(std::size_t cluster, NodeId process, const Among* among = nullptr) const;
  const Among* of_link(LinkChoice link, std::size_t cluster, NodeId process) const;

  std::vector<Gate> gates_;
  std::size_t clusters_;
  std::map<std::pair<LinkChoice, std::size_t>, Among> links_;  // to each cluster
  std::deque<Kept> again_;                            // no more than gateways hold for this process
  std::vector<std::pair<NodeId, NodeId>> forgotten_;  // the first, and how many
  std::uint64_t sent_again_ = 0;
};

}  // namespace isthmus::core
