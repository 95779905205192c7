#include "sim/report.hpp"

#include <algorithm>

namespace isthmus::sim {
namespace {

using nlohmann::json;

json busiest(const Wires& wires, double seconds) {
  json found;
  const Link* most = nullptr;
  const auto look = [&](const std::vector<Link>& links, const char* way) {
    for (std::size_t r = 0; r < links.size(); ++r) {
      if (most != nullptr && links[r].bytes <= most->bytes) continue;
      most = &links[r];
      found = {{"rank", r}, {"way", way}};
    }
  };
  look(wires.out(), "out");
  look(wires.in(), "in");
  found["bytes"] = most->bytes;
  found["load"] = seconds > 0 ? most->busy / seconds : 0;
  return found;
}

json wan(const Simulation& simulation) {
  json links = json::array();
  const int clusters = simulation.platform().layout.clusters();
  for (int from = 0; from < clusters; ++from) {
    for (int to = 0; to < clusters; ++to) {
      if (from == to) continue;
      const Crossed& crossed = simulation.wires().crossed(from, to);
      links.push_back(
          {{"from", from}, {"to", to}, {"bytes", crossed.bytes}, {"messages", crossed.messages}});
    }
  }
  return links;
}

json network(const coll::Network& known) {
  return {{"wan_latency", known.wan_latency},
          {"wan_bandwidth", known.wan_bandwidth},
          {"link_latency", known.link_latency},
          {"link_bandwidth", known.link_bandwidth},
          {"paths", known.paths}};
}

}  // namespace

json report(const Simulation& simulation, const coll::Problem& problem) {
  std::vector<double> ends = simulation.ends();
  std::ranges::sort(ends);
  const coll::Choice& choice = simulation.choice();
  const Platform& platform = simulation.platform();
  const coll::Setting setting{platform.layout, platform.network, problem};
  return {{"seconds", ends.back()},
          {"median", ends[ends.size() / 2]},
          {"algorithm", choice.algorithm->name},
          {"estimate", choice.algorithm->cost(setting, choice.parameters)},
          {"messages", simulation.messages()},
          {"events", simulation.events()},
          {"busiest", busiest(simulation.wires(), ends.back())},
          {"network", network(platform.network)},
          {"wan", wan(simulation)}};
}

}  // namespace isthmus::sim
