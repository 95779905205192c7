// Calls of collectives with wrong arguments. A member with such a call gets its error at once, and
// takes part all the same, so that no other member waits for it forever. For that it tells the
// others; each of them that begins the collective answers with its outline (outline.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/world/group.hpp"
#include "mpi/coll/outline.hpp"

namespace isthmus::face {

/// Begins to listen: when the grid is joined.
void hear_of_wrong_calls();

/// The calls of one communicator's members, as far as this member knows them. An intercommunicator
/// has one for both sides. Any thread may call; the calls take the engine's lock.
class CallRecord {
 public:
  CallRecord(std::uint64_t context, int me, core::Group group);
  ~CallRecord();
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;

  /// This member has begun the collective of that number (GridComm::begun), with right arguments.
  void begins(std::uint64_t number, const char* function, Outline outline);
  /// It has begun it with wrong ones.
  void begins_wrongly(std::uint64_t number);
  /// Why the results of the collective that has begun last are worthless; nothing if they are good.
  std::optional<std::string> spoilt_by();

  /// This member's call has wrong arguments; the collective of that number has not begun.
  void tell_wrong_call(std::uint64_t number, const char* function, const std::string& reason);
  enum class Answer {
    Awaited,
    OtherCall,  ///< the others make another call: this member's counts for nothing
    AllWrong,   ///< nobody has right arguments
    Outlines,   ///< all others that have right arguments have answered
    Unknown,    ///< one had begun so much since that it cannot answer
  };
  Answer answer();
  /// The outlines by rank; an element is empty if that rank gave none.
  std::vector<std::optional<Outline>> take_outlines();

 private:
  friend class WrongCalls;

  /// Calls that follow each other and are alike.
  struct Calls {
    std::uint64_t first, last;
    std::string function;
    Outline outline;
  };
  struct Told {
    std::uint64_t number;
    int rank, world_rank;
    std::string function, reason;
  };
  struct Word {
    bool known = false;
    std::string function;
    Outline outline;
  };
  using Message = std::pair<core::NodeId, std::vector<std::byte>>;

  const Calls* find(std::uint64_t number) const;
  Message outline_for(int rank, std::uint64_t number) const;
  void hear(Told told, std::vector<Message>& answers);
  void hear(int rank, std::uint64_t number, Word word);

  const std::uint64_t context_;
  const int me_;
  const core::Group group_;
  std::uint64_t latest_ = 0;  // the number of the one that has begun last
  std::deque<Calls> calls_;
  std::vector<Told> told_;  // of collectives from `latest_` on
  // While this member waits for answers:
  std::uint64_t asked_ = 0;  // about that number; 0: it does not wait
  std::string asked_function_;
  std::vector<std::optional<Word>> words_;
  bool news_ = false;
};

}  // namespace isthmus::face
