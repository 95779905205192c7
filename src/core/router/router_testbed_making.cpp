// The nodes of a grid in virtual time, and the connections between them.
#include "core/router/router_testbed.hpp"

namespace isthmus::core {

Grid::Grid(Setup setup) : setup_(std::move(setup)), random_(setup_.seed) {
  int first = 0;
  for (std::size_t c = 0; c < setup_.sizes.size(); ++c) {
    world_.clusters.push_back({"c" + std::to_string(c), first, setup_.sizes[c]});
    first += setup_.sizes[c];
    for (int i = 0; i < setup_.gateways[c]; ++i) {
      const NodeId node = kFirstGateway + static_cast<NodeId>(gates_.size());
      world_.gateways.push_back({node, {c}, {}});
      gates_.push_back(
          std::make_unique<Gate>(RouterConfig{node, setup_.failover, setup_.survives}));
    }
  }
  for (const auto& clusters : setup_.bridges) {
    const NodeId node = kFirstGateway + static_cast<NodeId>(gates_.size());
    world_.gateways.push_back({.node = node, .clusters = clusters, .name = "bridge"});
    gates_.push_back(std::make_unique<Gate>(RouterConfig{node, setup_.failover, setup_.survives}));
  }
  join_gateways();
  for (int r = 0; r < world_.size(); ++r) join_process(r);
  for (std::size_t g = 0; g < gates_.size(); ++g) gates_[g]->router.learn_world(world_, next_[g]);
  run(100ms);
  for (auto& gate : gates_) gate->router.open();
}

void Grid::join_gateways() {
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

void Grid::join(std::size_t i, std::size_t j) {
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
void Grid::find_routes() {
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

void Grid::join_process(int rank) {
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

Grid::Wire& Grid::add_wire(NodeId a, NodeId b, Time patience) {
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

}  // namespace isthmus::core
