// One process's work for the other members of a window. It executes records as they come, on the
// thread that has the I/O's turn, whatever its program does. So every element is read and changed
// in one place, by one thread at a time. It keeps everything behind a lock that it cannot give yet.
// It waits for copies from and to a device: for up to kStreamPart bytes, if the origin knows of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/engine/engine.hpp"
#include "rma/channel.hpp"
#include "rma/combining.hpp"
#include "rma/device.hpp"
#include "rma/exposed.hpp"
#include "rma/locks.hpp"
#include "rma/memory.hpp"
#include "rma/record.hpp"

namespace isthmus::rma {

class Origin;

/// All functions need the engine's lock.
class Target {
 public:
  /// `own` learns what others answer to this process's requests.
  Target(Channel& channel, Memory memory, Origin& own);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  Memory& memory() { return memory_; }
  /// Answers that are read from the window's memory, begun so far.
  std::uint64_t lent() const { return lent_; }
  /// The first `number` of them are over: they leave the memory alone.
  bool given_back(std::uint64_t number) const {
    return lending_.empty() || *lending_.begin() >= number;
  }
  bool has_completed(int rank) const;
  void take_complete(int rank);
  bool all_over() const;
  /// A message of a member, records or data. False: the member breaks the protocol.
  [[nodiscard]] bool take(int rank, bool data, std::span<const std::byte> bytes);
  /// A member has failed: its lock is free, and what it has sent and waits is dropped.
  void fail(int rank);

 private:
  struct Partner;
  struct Landing;
  struct Lent;
  enum class Step { Done, Stalled, Broken };

  Partner& partner(int rank);
  bool run(int rank, Partner& from, RecordReader& in);
  Step execute(int rank, Partner& from, RecordReader& in);
  Step define_map(Partner& from, RecordReader& in);
  Step put(Partner& from, RecordReader& in);
  Step put_apart(int rank, Partner& from, RecordReader& in);
  Step get(int rank, Partner& from, RecordReader& in);
  Step accumulate(int rank, Partner& from, RecordReader& in);
  Step accumulate_apart(Partner& from, RecordReader& in);
  bool take_data(Partner& from, std::span<const std::byte> data);
  bool compute(Partner& from, const Area& area, const Combination& how,
               std::span<const std::byte> data, std::vector<std::byte>& before);
  Step compare(int rank, Partner& from, RecordReader& in);
  Step lock(int rank, Partner& from, RecordReader& in);
  Step unlock(int rank, Partner& from, RecordReader& in);
  Step pass(int rank, Partner& from);
  bool resolve(Partner& from, const Area& area, const Element* element, Spot& spot);
  template <class Use>
  bool on_device(Partner& from, const std::byte* region, Use&& use) {
    return note(from, device_.on(region, std::forward<Use>(use)));
  }
  bool end_device(Partner& from) { return note(from, device_.end()); }
  bool note(Partner& from, bool good);
  void land(Landing& landing);
  void tell_done(int rank, Partner& to, std::uint64_t number);
  void resume_all();

  Channel& channel_;
  Memory memory_;
  Origin& own_;
  Locks locks_;
  DeviceWork device_;
  std::unordered_map<int, std::unique_ptr<Partner>> partners_;
  std::deque<int> resumable_;
  bool running_ = false, broken_ = false;
  std::uint64_t lent_ = 0;
  std::set<std::uint64_t> lending_;  // of them, those under way
  std::size_t under_way_ = 0;        // operations of the engine's
};

}  // namespace isthmus::rma
