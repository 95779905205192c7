// How the members of a cluster that send to another at the same time share a link's rate. Shares is
// kept where all of them are known, at their gateway; each has a Claim (claim.hpp). Pure; time is
// given.
//
// All may send up to one level, a part of the rate: that at which those who can use so much have
// what the others leave. So a lone sender has all of it, and of n that could use all each has 1/n.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "core/ids.hpp"

namespace isthmus::core {

class Shares {
 public:
  using Time = std::chrono::nanoseconds;
  struct News {
    NodeId member;
    double level;
  };

  /// A claim that was not renewed for so long is over: its sender does not run any more.
  static constexpr Time kForgotten = std::chrono::seconds(2);

  /// The member could use so much of the rate: 1, all of it; 0, nothing any more.
  void claim(NodeId member, double part, Time now);
  /// It has gone: whatever it has heard, it may not know any more when it comes back.
  void forget(NodeId member);
  /// Drops claims that are over. Called several times a second; then all hear of small changes.
  void tick(Time now);
  /// Who is to hear the level now: whoever has never heard any, and those for whom it has changed
  /// by more than an eighth, so that n who begin together hear it n log n times and not n^2. It
  /// falls at once. It rises for those who claim more than they have heard, and with `risen`: call
  /// again so a moment after `waits()`, for others that begin or cease in the same moment may take
  /// the rise back.
  std::vector<News> news(bool risen);
  /// Some have not been told yet that it has risen.
  bool waits() const { return waits_; }

  double level() const { return level_; }
  /// Those who claim something.
  std::size_t size() const;

 private:
  struct Member {
    double part = 0;  // 0: it has ceased, and sends at what it was told when it begins again
    double told = 0;  // 0: nothing
    Time heard{};
  };

  void settle();

  std::map<NodeId, Member> members_;
  double level_ = 1;
  bool changed_ = false;  // claims have
  bool exactly_ = false;  // the next news are for all
  bool waits_ = false;
};

}  // namespace isthmus::core
