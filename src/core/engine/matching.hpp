// The queues of MPI matching: receives posted and messages come unexpected, per context, each in
// order. Owns neither. Messages enter in the order in which their senders sent them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/intrusive_list.hpp"
#include "core/engine/inbound.hpp"
#include "core/wire/message.hpp"

namespace isthmus::core {

class Matching {
 public:
  /// Takes out and returns the first posted receive that matches, or null.
  RecvOp* take_posted(const Envelope& envelope);
  void post(RecvOp& op);
  /// False: it is not posted.
  bool unpost(RecvOp& op);

  /// Until release(), no two in the context of `op` meet: no receive is taken and no message is
  /// found. False: `op` is not posted. One receive of a context at a time.
  bool withhold(RecvOp& op);
  void release(const RecvOp& op);

  bool withheld(std::uint64_t context) const;

  /// Takes out and returns the posted receives for which `fits` holds, but of contexts where one is
  /// withheld.
  template <class Fits>
  std::vector<RecvOp*> unpost_if(Fits&& fits) {
    std::vector<RecvOp*> taken;
    for (auto& [context, queues] : contexts_) {
      if (queues.withheld) continue;
      RecvOp* next = nullptr;
      for (RecvOp* op = queues.posted.front(); op != nullptr; op = next) {
        next = Posted::next(*op);
        if (!fits(*op)) continue;
        queues.posted.erase(*op);
        taken.push_back(op);
      }
    }
    return taken;
  }

  /// All that are posted, those of one context in order.
  template <class Each>
  void each_posted(Each&& each) const {
    for (const auto& [context, queues] : contexts_) {
      const auto& posted = queues.posted;
      for (const RecvOp* op = posted.front(); op != nullptr; op = posted.next(*op)) each(*op);
    }
  }

  /// The first unexpected message that matches, or null.
  Incoming* find_unexpected(std::uint64_t context, int source, int tag) const;
  /// All unexpected messages of a context, for those that match again after release().
  Incoming* first_unexpected(std::uint64_t context) const;
  static Incoming* next_unexpected(const Incoming& message);
  void add_unexpected(Incoming& message);
  void remove_unexpected(Incoming& message);

 private:
  using Posted = IntrusiveList<RecvOp, &RecvOp::links>;
  using Unexpected = IntrusiveList<Incoming, &Incoming::links>;
  struct Queues {
    Posted posted;
    Unexpected unexpected;
    bool withheld = false;
  };
  Queues& queues(std::uint64_t context);

  std::unordered_map<std::uint64_t, Queues> contexts_;
  std::size_t sweep_at_ = 64;
};

}  // namespace isthmus::core
