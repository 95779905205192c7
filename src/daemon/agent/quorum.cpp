#include "daemon/agent/quorum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace isthmus::daemon {

Quorum::Quorum(core::World world, LinkRequest::Beside beside)
    : world_(std::move(world)), beside_(std::move(beside)) {}

std::set<std::size_t> Quorum::given_up() const {
  std::set<std::size_t> found = beside_.clusters;
  for (const std::size_t cluster : failed_) found.erase(cluster);
  return found;
}

std::set<std::size_t> Quorum::left() const {
  std::set<std::size_t> found;
  for (std::size_t cluster = 0; cluster < world_.clusters.size(); ++cluster) {
    if (!beside_.clusters.contains(cluster) && !failed_.contains(cluster)) found.insert(cluster);
  }
  return found;
}

std::set<core::NodeId> Quorum::voters() const {
  const std::set<std::size_t> others = left();
  std::set<core::NodeId> found;
  for (const core::Gateway& gateway : world_.gateways) {
    const bool serves = std::ranges::any_of(
        gateway.clusters, [&](std::size_t cluster) { return others.contains(cluster); });
    if (serves && !beside_.gateways.contains(gateway.node)) found.insert(gateway.node);
  }
  return found;
}

Quorum::Verdict Quorum::verdict() const { return judge().verdict; }

std::string Quorum::why() const { return judge().why; }

Quorum::Judgement Quorum::judge() const {
  const std::set<std::size_t> parting = given_up();
  std::set<std::size_t> suspects = suspected_;
  for (const std::size_t cluster : failed_) suspects.erase(cluster);
  if (suspects.empty() && (agreed_.empty() || parting.empty())) return {Verdict::GoOn, ""};
  if (own_ && parting.contains(*own_)) {
    return {Verdict::End, "the launcher is lost, and other clusters may go on without this one"};
  }
  if (grown_ || parting.empty() || !std::ranges::includes(parting, suspects)) {
    return {Verdict::End, "the launcher is lost, so nobody can go on without it"};
  }
  if (std::string said = trouble(); !said.empty()) return {Verdict::End, std::move(said)};
  return {std::ranges::includes(agreed_, voters()) ? Verdict::GiveUp : Verdict::Ask, ""};
}

// Why the others may not go on, or nothing.
std::string Quorum::trouble() const {
  int ranks = 0;
  int all = 0;
  const std::set<std::size_t> others = left();
  for (std::size_t cluster = 0; cluster < world_.clusters.size(); ++cluster) {
    all += world_.clusters[cluster].size;
    if (others.contains(cluster)) ranks += world_.clusters[cluster].size;
  }
  if (2 * ranks <= all) {
    return fmt::format(
        "the launcher is lost, and the clusters that are not on its host have {} of {} ranks. Only "
        "more than half may go on",
        ranks, all);
  }
  if (static_cast<int>(others.size()) < beside_.least) {
    return fmt::format("the launcher is lost, and {} clusters would be left, fewer than {}",
                       others.size(), beside_.least);
  }
  const std::set<core::NodeId> voting = voters();
  const bool all_vote = std::ranges::all_of(others, [&](std::size_t cluster) {
    return std::ranges::any_of(world_.gateways, [&](const core::Gateway& gateway) {
      return gateway.serves(cluster) && voting.contains(gateway.node);
    });
  });
  return all_vote ? "" : "the launcher is lost, and another cluster with its gateways";
}

}  // namespace isthmus::daemon
