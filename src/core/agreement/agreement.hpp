// One agreement of the members of a communicator, of which any may fail at any time. A pure state
// machine: its owner carries messages and reports failures.
//
// Members send their contributions to a coordinator, the lowest member that they do not know to
// have failed. It waits for an answer from every member that it does not know to have failed. Then
// it decides and sends the decision to all of them. If it fails, members answer the next one, and
// say which decision they have accepted. The next one takes the newest of these; only if there is
// none does it decide afresh. Each message has the failures that its sender knows, and nobody
// listens to a failed member. So a member that has answered a coordinator accepts nothing from
// earlier ones, and no two members that live can accept different decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/agreement/rank_set.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::core {

/// A member's input. All members' inputs are combined.
struct Contribution {
  std::uint64_t flags = 0;  ///< combined by AND
  RankSet failed;           ///< members that it knows to have failed: united
  RankSet acknowledged;     ///< failures that its program knows: those that all programs know
  bool operator==(const Contribution&) const = default;
};

/// The same on all members that decide and live.
struct Decision : Contribution {
  std::uint64_t word = 0;  ///< the offer of the coordinator that decided
  bool operator==(const Decision&) const = default;
};

struct AgreementMessage {
  int to;  ///< a rank
  std::vector<std::byte> bytes;
};
using AgreementMessages = std::vector<AgreementMessage>;

class Agreement {
 public:
  /// `known`: failures that every member knows that takes part in it.
  Agreement(std::uint64_t number, int me, const RankSet& known);

  // Each of these adds the messages that it causes to `out`. They begin with the number.
  /// This member takes part. Once. `offer`: for Decision::word.
  void begin(const Contribution& mine, std::uint64_t offer, AgreementMessages& out);
  /// These members have failed; some may be known.
  void fail(const RankSet& ranks, AgreementMessages& out);
  /// A message has come, whose number has been read. False: malformed.
  [[nodiscard]] bool take(int from, Reader& in, AgreementMessages& out);

  std::uint64_t number() const { return number_; }
  const RankSet& failed() const { return failed_; }  ///< as far as known
  /// Null: undecided.
  const Decision* decision() const { return accepted_ ? &accepted_->decision : nullptr; }

 private:
  /// A decision, and the coordinator that sent it last.
  struct Accepted {
    int coordinator;
    Decision decision;
  };

  Writer write(AgreementMessages& out, int to, std::uint8_t says) const;
  void ask_all(AgreementMessages& out) const;
  void answer(AgreementMessages& out);
  void send_decision(AgreementMessages& out) const;
  std::optional<Accepted> read_accepted(Reader& in) const;
  bool take_answer(int from, Reader& in);
  bool take_decision(int from, Reader& in);
  void gather(int from, const Contribution& contribution);
  void follow(AgreementMessages& out);
  void conclude(AgreementMessages& out);

  std::uint64_t number_;
  int me_;
  RankSet failed_;
  int coordinator_;
  bool begun_ = false;
  Contribution mine_;
  std::uint64_t offer_ = 0;
  std::optional<RankSet> told_;  // the failures in this member's last answer
  std::optional<Accepted> accepted_;
  // As a coordinator:
  RankSet heard_;  // members that have answered
  Contribution gathered_;
  std::optional<Accepted> newest_;  // of their decisions
  bool concluded_ = false;
};

}  // namespace isthmus::core
