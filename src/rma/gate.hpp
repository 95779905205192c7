// The requests of an origin to one target: which are answered, and which messages may be sent
// before the answers come. So a target needs little memory for an origin that it cannot serve yet.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isthmus::rma {

class Gate {
 public:
  /// Requests that a message follows.
  struct Asked {
    std::uint64_t starts = 0;   ///< epochs that wait for a post each
    std::uint64_t locks = 0;    ///< locks requested
    std::uint64_t landing = 0;  ///< the last number that waits for data in messages of its own
  };
  struct Message {
    Asked behind;
    std::size_t records = 0;  ///< bytes that the target keeps if it is held up
    std::size_t answers = 0;  ///< bytes requested from the target
    bool part = false;        ///< of an accumulate's data
  };

  void start() { ++asked_.starts; }
  void lock() { ++asked_.locks; }
  /// The next number, for all operations so far. `landing`: some have data in messages of its own.
  std::uint64_t number(bool landing);
  std::uint64_t last_number() const { return numbers_; }
  const Asked& asked() const { return asked_; }

  void posted() { ++posts_; }
  /// Both are false for an answer to no request.
  bool grant();
  bool answer(std::uint64_t number);

  bool granted() const { return granted_ >= asked_.locks; }
  bool open() const { return granted() && posts_ >= asked_.starts; }
  bool answered(std::uint64_t number) const { return answered_ >= number; }

  /// The target has failed: nothing waits for its answers any more.
  void fail() { failed_ = true; }
  bool failed() const { return failed_; }

  /// True: send it now; it counts as sent.
  bool lets(const Message& message);
  void part_ended() { --parts_; }
  void answers_came(std::size_t bytes) { answers_due_ -= bytes; }

 private:
  bool may_go(const Message& message) const;
  bool held_up() const { return granted_ < locks_sent_ || answered_ < landing_sent_; }

  Asked asked_;
  std::uint64_t posts_ = 0, granted_ = 0, numbers_ = 0, answered_ = 0;
  std::uint64_t locks_sent_ = 0, landing_sent_ = 0;
  std::size_t sent_behind_ = 0;  // bytes since the target may be held up
  std::size_t answers_due_ = 0;
  std::size_t parts_ = 0;
  bool failed_ = false;
};

}  // namespace isthmus::rma
