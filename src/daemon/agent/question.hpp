// An agent has lost its launcher. It asks the others if all agree to give up the clusters on the
// launcher's host (docs/decisions/0056). It is pure: the caller has the clock, and tells gateways.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/agent/quorum.hpp"

namespace isthmus::daemon {

class Question {
 public:
  using Clock = std::chrono::steady_clock;
  using Agreements = std::map<core::NodeId, Clock::time_point>;
  enum class Next {
    Nothing,
    Ask,     ///< the gateways here agree from now on; judge() again, and once more when it is due
    GiveUp,  ///< Quorum::given_up()
    End,     ///< `why` says the reason
  };

  /// Agents notice that the launcher is lost within this patience.
  Question(Quorum quorum, std::chrono::milliseconds patience);

  /// The news so far.
  Quorum& quorum() { return quorum_; }
  /// The gateways of `agreed` that count. They were heard while the launcher was there. One without
  /// a vote does not count if it asked too long ago: it has ended since, and may have been started
  /// again.
  std::vector<core::NodeId> recall(const Agreements& agreed, Clock::time_point now) const;

  Next judge(Clock::time_point now);
  /// The end of the question. It has been asked.
  Clock::time_point due() const;
  std::string why() const;

 private:
  Quorum quorum_;
  const std::chrono::milliseconds limit_;
  std::optional<Clock::time_point> asked_;
  bool expired_ = false;
};

}  // namespace isthmus::daemon
