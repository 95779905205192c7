// Collectives of grid communicators, in every form: each is an Operation that waits for its turn
// on its communicator, then steps the coroutine of src/coll.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coll/engine/collectives.hpp"
#include "coll/inter/subset.hpp"
#include "mpi/coll/outline.hpp"
#include "mpi/coll/party.hpp"
#include "mpi/coll/wrong_calls.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/twins.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

class Collective;

/// The collectives that this process has begun on one communicator, in the order of the calls. One
/// runs at a time, so the local operations of all members are started in the same order.
class CollectiveQueue {
 public:
  explicit CollectiveQueue(GridComm& comm);
  /// The queue of `comm`, made when first needed. Under the progress lock.
  static CollectiveQueue& of(GridComm& comm);

 private:
  friend class Collective;
  /// The program makes collectives of its own on the handle behind a twin: Isthmus's go by
  /// messages. So do all in a run whose clusters may fail, since they can be ended at any time.
  coll::Party& party();
  FaceParty party_;
  std::optional<coll::Subset> by_messages_;
  CallRecord record_;
  std::deque<Collective*> waiting_;
  std::uint64_t waited_for_ = 0;  // blocking collectives that have begun
};

/// A collective on a grid communicator. A kind of collective is a class derived from it, which
/// holds what start() needs: buffers, sizes, the reduction.
class Collective : public Operation {
 public:
  /// Takes its place in the queue. `function` is for messages; a string literal.
  Collective(GridCommRef comm, const char* function);
  ~Collective() override;
  bool advance() final;
  bool block() final;
  bool near() const final;
  /// Before it begins: its call blocks.
  void wait_for() { waited_for_ = true; }
  void nap(std::chrono::microseconds limit) final;

 protected:
  virtual coll::Task start(coll::Party& party) = 0;
  /// Empty: this member has wrong arguments. One that takes no part in vain need not say more than
  /// its name.
  virtual std::optional<Outline> outline() const { return Outline(); }
  enum class Turn { NotYet, Begins, CountsForNothing };
  /// It is the first of its queue. Whether it begins now.
  virtual Turn take_turn(CallRecord&) { return Turn::Begins; }
  /// Unpacks results. Throws MpiError.
  virtual void finish() {}
  GridComm& grid_comm() const { return *grid_comm_; }
  /// The members agree on its end from now on. A loss does not end it.
  void decides() { decides_ = true; }
  /// All earlier operations on its communicator have ended. Until then no message of this one may
  /// go by the handle. Takes the progress lock.
  bool in_turn() const;

 private:
  void begin(CollectiveQueue& queue);
  void leave();
  void fail(int error_class, const std::string& reason);
  bool lose(const Loss& loss);
  /// Whether it may end well after a loss. Unknown: this depends on the other members.
  enum class Hope { None, Unknown, Some };
  Hope hope() const;
  bool out_of_patience();

  HandleUse grid_comm_;
  const char* function_;
  bool begun_ = false, started_ = false, left_ = false;
  bool waited_for_ = false;
  bool decides_ = false;
  bool prepares_ = false;  // its communicator's commons; then it starts
  bool complete_ = false;  // all data have come
  coll::Task task_;
  std::optional<std::chrono::steady_clock::time_point> lost_at_;  // when it has heard of a loss
};

/// The form in which a collective was called; if both pointers are null, the call blocks.
struct Call {
  GridCommRef comm;
  const char* function;
  MPI_Request* request = nullptr;              ///< the place of the request
  std::unique_ptr<Operation>* made = nullptr;  ///< the place of the operation, for a persistent one
  bool starts = false;                         ///< it has been initialised, and is started
  bool blocking() const { return request == nullptr && made == nullptr; }
};

/// Drives a collective to its end, or hands it out.
int launch(std::unique_ptr<Collective> collective, const Call& call);
/// Instead of launch(), if this process has wrong arguments. It takes part without the program's
/// knowledge, as soon as it has received the algorithm.
void launch_wrong(const Call& call, const MpiError& why);
/// The same for the start of a persistent one, which has been found right before: its memory cannot
/// be read. The operation ends with that error.
std::unique_ptr<Operation> started_wrongly(const Call& call, const MpiError& why);

/// Runs `body`, which checks the arguments of a collective and launches it, as `shielded` does.
template <class Body>
int collectively(const Call& call, Body&& body) noexcept {
  return shielded(call.comm->native, call.function, [&]() -> int {
    try {
      return std::forward<Body>(body)();
    } catch (const MpiError& failure) {
      if (call.comm->twin) throw;  // its members wait as natively
      if (call.starts) {
        *call.made = started_wrongly(call, failure);
        return MPI_SUCCESS;
      }
      if (call.made == nullptr) launch_wrong(call, failure);
      throw;
    }
  });
}

/// The grid communicator that an entry works on; null: the call is the native library's.
/// Collectives of native communicators go there even while operations of the grid are under way.
/// MPI does not match a blocking collective on one rank with a non-blocking one on another, and the
/// other members cannot know what is under way here. The grid's operations get a push first, since
/// not every collective waits: a root's broadcast may end at once.
inline GridCommRef spanning(MPI_Comm comm) {
  if (inner_call()) return nullptr;
  if (!idle()) pump();
  return find_comm(comm) == nullptr ? nullptr : share_comm(comm);
}

/// The same for a reduction: the twin of a native communicator, if it must be reproducible.
inline GridCommRef reducing(MPI_Comm comm) {
  GridCommRef found = spanning(comm);
  return found || native_call() ? found : twin_of(comm);
}

}  // namespace isthmus::face
