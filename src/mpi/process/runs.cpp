#include "mpi/process/runs.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "coll/engine/party.hpp"
#include "core/base/own_order.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

using core::NodeId;
using Words = std::vector<std::int32_t>;

constexpr std::size_t kWord = sizeof(std::int32_t);

/// The name by which its own run knows a process.
std::pair<const std::string&, int> identity(int node) {
  const core::World& world = grid()->world();
  const core::Cluster& cluster = world.clusters[world.cluster_of(node)];
  if (!cluster.is_guest()) return {grid()->job, node};
  return {cluster.run, cluster.there + (node - cluster.first)};
}

int node_of(const std::string& run, int there) {
  Grid& here = *grid();
  if (run == here.job) return there;
  while (true) {
    if (const auto node = here.world().guest(run, static_cast<NodeId>(there))) {
      return static_cast<int>(*node);
    }
    const std::uint32_t seen = here.endpoint->events();
    here.learn_world(here.endpoint->world());
    if (here.world().guest(run, static_cast<NodeId>(there))) continue;
    here.endpoint->wait_event(seen, std::chrono::milliseconds(10));
  }
}

/// Takes what it reads off the front.
struct Reader {
  std::span<const std::int32_t> rest;

  std::int32_t number() {
    if (rest.empty() || rest.front() < 0) throw wrong();
    const std::int32_t value = rest.front();
    rest = rest.subspan(1);
    return value;
  }
  std::string text() {
    const auto size = static_cast<std::size_t>(number());
    const std::size_t words = (size + kWord - 1) / kWord;
    if (words > rest.size()) throw wrong();
    std::string value(size, '\0');
    std::vector<std::int32_t> crossing(rest.begin(),
                                       rest.begin() + static_cast<std::ptrdiff_t>(words));
    core::little_endian(crossing);
    std::memcpy(value.data(), crossing.data(), size);
    rest = rest.subspan(words);
    return value;
  }
  static MpiError wrong() {
    return {MPI_ERR_OTHER, "what the other side says of its group is none"};
  }
};

}  // namespace

bool knows_guests() {
  const auto& clusters = grid()->world().clusters;
  return std::any_of(clusters.begin(), clusters.end(),
                     [](const core::Cluster& cluster) { return cluster.is_guest(); });
}

bool precedes(int node, int other) { return identity(node) < identity(other); }

// The runs, each as a text; then each member as the index of its run and its number there.
Words group_to_words(const core::Group& group) {
  std::vector<std::string> runs;
  Words members;
  for (const int node : group.nodes()) {
    const auto [run, there] = identity(node);
    const auto known = std::find(runs.begin(), runs.end(), run);
    members.push_back(static_cast<std::int32_t>(known - runs.begin()));
    if (known == runs.end()) runs.push_back(run);
    members.push_back(there);
  }
  Words words{static_cast<std::int32_t>(runs.size())};
  for (const std::string& run : runs) {
    words.push_back(static_cast<std::int32_t>(run.size()));
    const std::size_t at = words.size();
    words.resize(at + (run.size() + kWord - 1) / kWord);
    std::memcpy(&words[at], run.data(), run.size());
    // Words may be turned on their way, and texts not.
    for (std::size_t i = at; i < words.size(); ++i) core::little_endian(words[i]);
  }
  words.insert(words.end(), members.begin(), members.end());
  return words;
}

core::Group group_from_words(std::span<const std::int32_t> words) {
  Reader reader{words};
  std::vector<std::string> runs;
  for (std::int32_t left = reader.number(); left > 0; --left) runs.push_back(reader.text());
  std::vector<int> nodes;
  nodes.reserve(reader.rest.size() / 2);
  while (!reader.rest.empty()) {
    const auto run = static_cast<std::size_t>(reader.number());
    if (run >= runs.size()) throw Reader::wrong();
    nodes.push_back(node_of(runs[run], reader.number()));
  }
  return core::Group::of(nodes);
}

}  // namespace isthmus::face
