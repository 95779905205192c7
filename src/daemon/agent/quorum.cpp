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
    const bool away = !beside_.gateways.contains(gateway.node) && !lost_.contains(gateway.node);
    if (serves && away) found.insert(gateway.node);
  }
  return found;
}

std::set<core::NodeId> Quorum::missing() const {
  std::set<core::NodeId> found = voters();
  for (const core::NodeId gateway : agreed_) found.erase(gateway);
  return found;
}

std::string Quorum::names(const std::set<std::size_t>& clusters) const {
  std::string text;
  for (const std::size_t cluster : clusters) {
    text += (text.empty() ? "cluster \"" : " and cluster \"") + world_.clusters[cluster].name + '"';
  }
  return text;
}

std::string Quorum::labels(const std::set<core::NodeId>& gateways) const {
  std::string text;
  for (const core::NodeId gateway : gateways) {
    text += (text.empty() ? "gateway " : ", gateway ") + world_.label_of(gateway);
  }
  return text;
}

// The agreement of a gateway whose clusters have failed since is stale, and so is that of a lost
// one.
bool Quorum::is_asked() const {
  const std::set<core::NodeId> voting = voters();
  return std::ranges::any_of(world_.gateways, [&](const core::Gateway& gateway) {
    const bool forwards = gateway.clusters.empty() && !beside_.gateways.contains(gateway.node);
    return agreed_.contains(gateway.node) && (forwards || voting.contains(gateway.node));
  });
}

Quorum::Verdict Quorum::verdict() const { return judge().verdict; }

std::string Quorum::why() const { return judge().why; }

Quorum::Judgement Quorum::judge() const {
  const std::set<std::size_t> parting = given_up();
  std::set<std::size_t> suspects = suspected_;
  for (const std::size_t cluster : failed_) suspects.erase(cluster);
  if (suspects.empty() && (parting.empty() || !is_asked())) return {Verdict::GoOn, ""};
  if (own_ && parting.contains(*own_)) {
    return {Verdict::End, "the launcher is lost, and clusters on other hosts may go on without " +
                              names({*own_})};
  }
  std::set<std::size_t> others = suspects;
  for (const std::size_t cluster : parting) others.erase(cluster);
  if (!others.empty()) {
    return {Verdict::End, "the launcher is lost, and nobody can go on without " + names(others)};
  }
  if (grown_) {
    return {Verdict::End,
            "the launcher is lost, and the world has grown since it began, so nobody can go on "
            "without " +
                names(parting)};
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
        "the launcher is lost with {} on its host. The other clusters have {} of {} ranks, and "
        "only more than half may go on",
        names(given_up()), ranks, all);
  }
  if (static_cast<int>(others.size()) < beside_.least) {
    return fmt::format(
        "the launcher is lost with {} on its host, and {} clusters would be left, fewer than {}",
        names(given_up()), others.size(), beside_.least);
  }
  const std::set<core::NodeId> voting = voters();
  std::set<std::size_t> mute = others;
  for (const core::Gateway& gateway : world_.gateways) {
    if (!voting.contains(gateway.node)) continue;
    for (const std::size_t cluster : gateway.clusters) mute.erase(cluster);
  }
  return mute.empty() ? "" : "the launcher is lost, and all gateways of " + names(mute);
}

}  // namespace isthmus::daemon
