// Whether the clusters on the host of a lost launcher may be given up (docs/decisions/0056). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "core/base/ids.hpp"
#include "core/world/world.hpp"
#include "daemon/control/requests.hpp"

namespace isthmus::daemon {

/// For an agent that has lost its launcher. A gateway agrees only after its agent has lost the
/// launcher for good. So once all gateways of the other clusters have agreed, the launcher has none
/// of these clusters any more.
class Quorum {
 public:
  enum class Verdict {
    GoOn,    ///< no cluster is suspected
    Ask,     ///< the clusters beside the launcher may be given up, if all voters agree
    GiveUp,  ///< they have agreed
    End,     ///< `why` says the reason
  };

  /// The world is as it began.
  Quorum(core::World world, LinkRequest::Beside beside);

  /// The agent has the ranks of this cluster.
  void have_ranks(std::size_t cluster) { own_ = cluster; }
  /// The world has grown since the launcher described it: nothing is given up.
  void grow() { grown_ = true; }
  /// The cluster has failed for good. It is not suspected any more.
  void fail(std::size_t cluster) { failed_.insert(cluster); }
  bool has_failed(std::size_t cluster) const { return failed_.contains(cluster); }
  void suspect(std::size_t cluster) { suspected_.insert(cluster); }
  /// The launcher has lost this gateway for good, and its clusters go on without it.
  void lose(core::NodeId gateway) { lost_.insert(gateway); }
  /// This gateway, here or elsewhere, has agreed. False: that was known.
  bool agree(core::NodeId gateway) { return agreed_.insert(gateway).second; }

  Verdict verdict() const;
  /// A part of a sentence, after "End".
  std::string why() const;
  /// The gateways that have to agree: those of the other clusters, elsewhere than the launcher.
  /// The agreement of a gateway that serves no cluster only tells others of the question.
  std::set<core::NodeId> voters() const;
  /// The clusters beside the launcher that have not failed.
  std::set<std::size_t> given_up() const;
  /// All others that have not failed.
  std::set<std::size_t> left() const;
  /// The voters that have not agreed.
  std::set<core::NodeId> missing() const;
  /// `cluster "a" and cluster "b"`
  std::string names(const std::set<std::size_t>& clusters) const;
  /// `gateway a/0, gateway b/0`
  std::string labels(const std::set<core::NodeId>& gateways) const;

 private:
  struct Judgement {
    Verdict verdict;
    std::string why;
  };
  Judgement judge() const;
  bool is_asked() const;
  std::string trouble() const;

  core::World world_;
  LinkRequest::Beside beside_;
  std::optional<std::size_t> own_;
  std::set<std::size_t> failed_, suspected_;
  std::set<core::NodeId> agreed_, lost_;
  bool grown_ = false;
};

}  // namespace isthmus::daemon
