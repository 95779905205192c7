// The target's knowledge of an origin, and the data that is under way between them. For target.cpp
// and accumulate.cpp.
#pragma once

#include <optional>
#include <string>

#include "rma/target.hpp"

namespace isthmus::rma {

struct Target::Partner {
  std::vector<core::TypeMap> maps;
  std::vector<std::byte> stalled;  // records that have to wait
  std::size_t landing = 0;         // data under way into my window
  std::size_t answering = 0;       // data under way from my window, read in place
  bool out_of_range = false;       // an operation was, since the last answer
  std::string device_failure;      // words of a driver for it, since the last answer
  bool passes = false;             // its next shared lock does
  struct ApartHere {               // an accumulate whose data is coming
    Area area;                     // the part that must still come
    Combination how;
    bool outside = false;  // of the window: no memory is touched
  };
  std::optional<ApartHere> apart_here;
  std::uint64_t completes = 0;
  /// My window is neither read nor written by its operations any more.
  bool at_rest() const { return landing == 0 && answering == 0; }
};

/// Data of an origin's on its way into the window. Its own last owner, like the next.
struct Target::Landing final : core::RecvOp, core::Completion {
  Landing(Target& target_, int rank_, Partner& origin_)
      : target(target_), rank(rank_), origin(origin_) {
    then = this;
    ++origin.landing;
    ++target.under_way_;
  }
  void over(core::Op& /*op*/) override {
    Target& here = target;
    if (device != nullptr) here.land(*this);
    --origin.landing;
    --here.under_way_;
    if (origin.landing == 0 && !origin.stalled.empty()) here.resumable_.push_back(rank);
    delete this;
    here.resume_all();
  }
  Target& target;
  const int rank;
  Partner& origin;
  const std::byte* device = nullptr;  // the region that it is for
  std::unique_ptr<std::byte[]> staged;
  std::int64_t displacement = 0;
};

/// Memory of the window on its way to an origin. It is read until this is over.
struct Target::Lent final : core::SendOp, core::Completion {
  Lent(Target& target_, int rank_, Partner& to_)
      : target(target_), rank(rank_), to(to_), index(target_.lent_++) {
    then = this;
    ++to.answering;
    ++target.under_way_;
    target.lending_.insert(index);
  }
  void over(core::Op& /*op*/) override {
    Target& here = target;
    --to.answering;
    --here.under_way_;
    here.lending_.erase(index);
    if (to.answering == 0 && !to.stalled.empty()) here.resumable_.push_back(rank);
    delete this;
    here.resume_all();
  }
  Target& target;
  const int rank;
  Partner& to;
  const std::uint64_t index;
};

}  // namespace isthmus::rma
