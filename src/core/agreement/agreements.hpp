// The agreements of one communicator, of which any member may fail: one after the other, by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "core/agreement/agreement.hpp"

namespace isthmus::core {

/// A member's part in them. Pure, as Agreement: its owner carries messages, which may overtake each
/// other, and reports failures. At the latest it reports those that it knows while it waits for a
/// decision.
class Agreements {
 public:
  Agreements(int me, int size) : me_(me), failed_(size), agreed_(size) {}

  // Each of these adds the messages that it causes to `out`.
  /// Begins the next agreement. The last one is decided. This member contributes its flags, the
  /// failures that it knows, and those that its program has `acknowledged`. `offer`: for
  /// Decision::word.
  void begin(std::uint64_t flags, const RankSet& acknowledged, std::uint64_t offer,
             AgreementMessages& out);
  /// These members have failed; some may be known.
  void fail(const RankSet& ranks, AgreementMessages& out);
  /// False: the member breaks the protocol.
  [[nodiscard]] bool take(int from, std::span<const std::byte> bytes, AgreementMessages& out);

  /// The decision of the agreement that has begun last. Null: there is none yet.
  const Decision* decision() const;
  const RankSet& failed() const { return failed_; }  ///< as far as known
  /// Agreements in memory: at most the last two of this member, and the next, which others may have
  /// begun.
  std::size_t kept() const { return kept_.size(); }

 private:
  Agreement* find(std::uint64_t number);
  const Agreement* find(std::uint64_t number) const;
  Agreement& open(std::uint64_t number, AgreementMessages& out);
  void settle();

  int me_;
  RankSet failed_;
  RankSet agreed_;           // failures that the last decision names: all know them
  std::uint64_t begun_ = 0;  // the number of the last; the first is 1
  std::deque<Agreement> kept_;
};

}  // namespace isthmus::core
