// Shares a link's rate among the members of a cluster that send to another at the same time. Shares
// is kept at their gateway, which knows all of them; each has a Claim (claim.hpp). Pure; time is
// given.
//
// All may send up to one level, a part of the rate. At this level, the senders that could use more
// get all that the others leave. So a lone sender has all of it, and each of n that could use all
// has 1/n.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "core/base/ids.hpp"

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

  /// The member could use `part` of the rate: 1, all of it; 0, it has ceased.
  void claim(NodeId member, double part, Time now);
  /// It has gone: it may not remember earlier levels when it comes back.
  void forget(NodeId member);
  /// Drops claims that are over. Called several times a second; then all hear of small changes.
  void tick(Time now);
  /// The members that must learn the level now: those that have never learned any, and those for
  /// which it has changed by more than an eighth. So n members that begin together learn it n log n
  /// times instead of n^2. It falls at once. It rises only for members that claim more than they
  /// have, and only with `risen`. Call it with `risen` a moment after `waits()`, since others that
  /// begin or cease in the same moment may take the rise back.
  std::vector<News> news(bool risen);
  /// Some members have not learned yet that it has risen.
  bool waits() const { return waits_; }

  double level() const { return level_; }
  /// The number of members with a claim.
  std::size_t size() const;

 private:
  struct Member {
    double part = 0;  // 0: it has ceased, and begins again at the level that it has learned
    double told = 0;  // 0: none
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
