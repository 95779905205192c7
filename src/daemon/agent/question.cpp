#include "daemon/agent/question.hpp"

#include <utility>

namespace isthmus::daemon {

// Other agents may hear of the loss one patience later, and a message may take some time.
Question::Question(Quorum quorum, std::chrono::milliseconds patience)
    : quorum_(std::move(quorum)), limit_(2 * patience) {}

std::vector<core::NodeId> Question::recall(const Agreements& agreed, Clock::time_point now) const {
  std::vector<core::NodeId> counting;
  const auto voters = quorum_.voters();
  for (const auto& [gateway, since] : agreed) {
    if (voters.contains(gateway) || since > now - limit_) counting.push_back(gateway);
  }
  return counting;
}

Question::Next Question::judge(Clock::time_point now) {
  switch (quorum_.verdict()) {
    case Quorum::Verdict::GoOn:
      return Next::Nothing;
    case Quorum::Verdict::GiveUp:
      return Next::GiveUp;
    case Quorum::Verdict::End:
      return Next::End;
    case Quorum::Verdict::Ask:
      break;
  }
  if (!asked_) {
    asked_ = now;
    return Next::Ask;
  }
  expired_ = now >= due();
  return expired_ ? Next::End : Next::Nothing;
}

Question::Clock::time_point Question::due() const { return *asked_ + limit_; }

std::string Question::why() const {
  if (!expired_) return quorum_.why();
  return "the launcher is lost, and " + quorum_.names(quorum_.given_up()) +
         " can only be given up if all agree. These have not, and may still have the launcher: " +
         quorum_.labels(quorum_.missing());
}

}  // namespace isthmus::daemon
