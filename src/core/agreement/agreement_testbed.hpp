// Members that agree several times, over a network that keeps the messages of each pair in order,
// and a launcher that declares members failed. A member that has been declared failed may go on for
// a while, as a real one does until it is ended. Only members that wait for a decision hear of
// failures from the launcher. The others learn of them by messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "core/agreement/agreements.hpp"

namespace isthmus::core {

class AgreeingMembers {
 public:
  enum class Failed : std::uint8_t { GoesOn, Stops };
  /// Each member agrees so often; its flags are drawn from `seed`. `failed`: the behaviour of a
  /// member from the moment that it is declared failed.
  AgreeingMembers(int size, int agreements, std::uint64_t seed, Failed failed = Failed::GoesOn);

  struct Step {
    enum class Kind : std::uint8_t { Begin, Deliver, Tell, Declare } kind;
    int who;  ///< the member that begins, gets a message, hears of a failure, or is declared failed
    int what = 0;  ///< the sender, or the member that has failed
  };
  /// All steps that are possible now. Declarations only if more members may fail: `failures`.
  std::vector<Step> steps(int failures) const;
  void take(const Step& step);
  bool failed(int rank) const { return members_[index(rank)].declared; }

  /// Empty, or the rule that is broken in this state.
  std::string wrong() const;
  /// No step of a living member is possible: empty if all of them have agreed so often as they
  /// should.
  std::string unfinished() const;
  /// The same in states with the same future.
  std::uint64_t mark() const;
  std::uint64_t sent() const { return sent_; }  ///< messages

 private:
  struct Member {
    Agreements agreements;
    bool declared = false;
    int begun = 0;
    std::vector<Decision> decided;
    RankSet told;             // failures
    std::uint64_t history{};  // of its inputs
  };

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  std::deque<std::vector<std::byte>>& between(int from, int to);
  const std::deque<std::vector<std::byte>>& between(int from, int to) const;
  std::uint64_t flags_of(int rank, int agreement) const;
  void note(Member& member, std::uint64_t input);
  void send(int from, const AgreementMessages& messages);
  void look(int rank);
  std::string wrong_decision(int agreement, const Decision& decision) const;

  int size_, agreements_;
  std::uint64_t seed_;
  Failed failed_;
  std::vector<Member> members_;
  std::vector<std::deque<std::vector<std::byte>>> network_;
  std::uint64_t sent_ = 0;
  bool broken_ = false;  // a message was refused
};

}  // namespace isthmus::core
