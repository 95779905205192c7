#include "mpi/coll/collective.hpp"

#include <algorithm>
#include <numeric>

#include "core/trace/trace.hpp"
#include "mpi/coll/failures.hpp"
#include "mpi/coll/taking_part.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/survival_errors.hpp"

namespace isthmus::face {
namespace {

/// A collective that began before it heard of a loss may not need the failed cluster any more. All
/// data may have come, or comes from living members. It has this long to end well. Members that
/// need the failed cluster end at once, and mostly revoke the communicator.
constexpr std::chrono::milliseconds kTimeAfterLoss{250};
/// The same for one that others have ended well before they heard of a revocation (2026-11). All
/// living members take part in it, so its data come. After this time without a verdict or without
/// the data, each member decides alone.
constexpr std::chrono::milliseconds kTimeAfterRevocation{2000};

}  // namespace

CollectiveQueue::CollectiveQueue(GridComm& comm)
    : party_(comm), record_(comm.context, comm.rank, comm.group) {
  if (!comm.twin && !may_lose()) return;
  std::vector<int> all(static_cast<std::size_t>(comm.size));
  std::iota(all.begin(), all.end(), 0);
  by_messages_.emplace(party_, std::move(all), coll::Subset::Lane::Messages);
}

coll::Party& CollectiveQueue::party() {
  if (by_messages_) return *by_messages_;
  return party_;
}

CollectiveQueue& CollectiveQueue::of(GridComm& comm) {
  if (!comm.collectives) comm.collectives = std::make_shared<CollectiveQueue>(comm);
  return *comm.collectives;
}

Collective::Collective(GridCommRef comm_, const char* function)
    : grid_comm_(std::move(comm_)), function_(function) {
  comm = grid_comm_->native;
  const core::Lock lock(progress_mutex);
  CollectiveQueue::of(*grid_comm_).waiting_.push_back(this);
}

Collective::~Collective() { leave(); }

void Collective::leave() {
  if (left_) return;
  left_ = true;
  const core::Lock lock(progress_mutex);
  grid_comm_->awaited.store(-1, std::memory_order_relaxed);
  if (begun_) {
    if (!complete_) grid_comm_->survival.course.end(grid_comm_->begun, false);
    grid_comm_->ended.store(grid_comm_->begun, std::memory_order_release);
  }
  if (started_) grid_comm_->collectives->party_.ended();
  std::erase(grid_comm_->collectives->waiting_, this);
}

void Collective::begin(CollectiveQueue& queue) {
  begun_ = true;
  const std::uint64_t number = ++grid_comm_->begun;
  if (auto right = outline()) {
    queue.record_.begins(number, function_, std::move(*right));
  } else {
    queue.record_.begins_wrongly(number);
  }
  look_for_failure(*grid_comm_, number);
  core::trace::note<core::trace::Event::CollectiveBegun>(grid_comm_->context, grid_comm_->size);
  prepares_ = waited_for_ && HostCommons::due(*grid_comm_, ++queue.waited_for_);
  if (prepares_) task_ = HostCommons::make(queue.party(), queue.party_.host_commons());
}

bool Collective::advance() {
  CollectiveQueue& queue = *grid_comm_->collectives;
  const std::optional<Loss> loss = decides_ ? std::nullopt : loss_of_all(*grid_comm_);
  if (loss && hope() == Hope::None) return lose(*loss);
  if (loss && hope() == Hope::Unknown && !out_of_patience()) return false;
  if (queue.waiting_.front() != this || !has_tags(*grid_comm_)) return false;
  try {
    if (!begun_) {
      switch (take_turn(queue.record_)) {
        case Turn::NotYet:
          return false;
        case Turn::CountsForNothing:
          leave();
          return true;
        case Turn::Begins:
          // A revocation that has come just now: the next look sees it.
          if (!grid_comm_->survival.course.begin(grid_comm_->begun + 1)) return false;
          begin(queue);
      }
    }
    if (prepares_) {
      queue.party_.test_requests();
      if (!task_.step()) return loss && out_of_patience() && lose(*loss);
      prepares_ = false;
    }
    if (!started_) {
      queue.party_.begins(grid_comm_->begun, waited_for_);
      task_ = start(queue.party());
      started_ = true;
    }
    queue.party_.test_requests();
    if (!complete_ && !task_.step()) return loss && out_of_patience() && lose(*loss);
    complete_ = true;
    // After a revocation, the others have not heard that it has ended here.
    if (!grid_comm_->survival.course.end(grid_comm_->begun, true) && !decides_ &&
        hope() != Hope::Some && !out_of_patience()) {
      return false;
    }
    if (const auto reason = queue.record_.spoilt_by()) {
      result.error = error_code(MPI_ERR_OTHER, function_, *reason);
    } else {
      finish();
    }
  } catch (const MpiError& failure) {
    const int error_class = class_of(failure.code);
    if (may_lose() && (error_class == proc_failed() || error_class == revoked())) {
      return lose({error_class, failure.what()});
    }
    std::string reason = failure.what();
    if (started_) {
      const auto earlier = earlier_failure(*grid_comm_, grid_comm_->begun);
      if (earlier) reason += " (earlier on this communicator " + *earlier + ")";
    }
    fail(error_class, reason);
  } catch (const std::bad_alloc&) {
    fail(MPI_ERR_NO_MEM, "out of memory");
  }
  core::trace::note<core::trace::Event::CollectiveEnded>(grid_comm_->context, result.error);
  task_ = coll::Task();
  leave();
  return true;
}

Collective::Hope Collective::hope() const {
  const Survival& survival = grid_comm_->survival;
  if (!survival.revoked.load(std::memory_order_acquire)) return started_ ? Hope::Some : Hope::None;
  if (!begun_) return Hope::None;
  switch (survival.verdict.load(std::memory_order_acquire)) {
    case core::Revocation::Verdict::Open:
      return Hope::Unknown;
    case core::Revocation::Verdict::EndsWell:
      return Hope::Some;
    case core::Revocation::Verdict::Ends:
      break;
  }
  return Hope::None;
}

bool Collective::out_of_patience() {
  const bool is_revoked = grid_comm_->survival.revoked.load(std::memory_order_acquire);
  const auto now = std::chrono::steady_clock::now();
  if (!lost_at_) lost_at_ = now;
  return now - *lost_at_ >= (is_revoked ? kTimeAfterRevocation : kTimeAfterLoss);
}

/// Every member that needs it learns of the loss by itself. No later collective on the communicator
/// will begin, so its tags and messages do not matter any more.
bool Collective::lose(const Loss& loss) {
  result.error = error_code(loss.error_class, function_, loss.because);
  core::trace::note<core::trace::Event::CollectiveEnded>(grid_comm_->context, result.error);
  task_ = coll::Task();
  leave();
  return true;
}

void Collective::fail(int error_class, const std::string& reason) {
  grid_comm_->tags.spoil();
  result.error = error_code(error_class, function_, reason);
  if (!grid_comm_->twin) tell_failure(*grid_comm_, grid_comm_->begun, function_, reason);
}

bool Collective::in_turn() const {
  const core::Lock lock(progress_mutex);
  return grid_comm_->collectives->waiting_.front() == this;
}

bool Collective::block() { return started_ && !left_ && task_.block(); }

bool Collective::near() const {
  const coll::Operation* const awaited = left_ ? nullptr : task_.awaited();
  const int rank = awaited == nullptr ? -1 : awaited->near();
  if (rank >= 0) grid_comm_->awaited.store(rank, std::memory_order_relaxed);
  return rank >= 0;
}

void Collective::nap(std::chrono::microseconds limit) {
  if (coll::Operation* const awaited = task_.awaited()) awaited->nap(limit);
}

namespace {

/// That of a member with wrong arguments.
class WrongCall final : public Collective {
 public:
  WrongCall(const Call& call, const MpiError& why)
      : Collective(everyone(call.comm), call.function),
        own_(call.comm),
        function_(call.function),
        why_(why) {}
  int own_error() const { return error_code(class_of(why_.code), function_, why_.what()); }

 private:
  std::optional<Outline> outline() const override { return std::nullopt; }

  Turn take_turn(CallRecord& record) override {
    if (!std::exchange(told_, true)) {
      record.tell_wrong_call(grid_comm().begun + 1, function_, why_.what());
    }
    answer_ = record.answer();
    if (answer_ == CallRecord::Answer::Awaited) return Turn::NotYet;
    outlines_ = record.take_outlines();
    return answer_ == CallRecord::Answer::OtherCall ? Turn::CountsForNothing : Turn::Begins;
  }

  coll::Task start(coll::Party& party) override {
    if (answer_ == CallRecord::Answer::Unknown) throw why_;
    if (answer_ == CallRecord::Answer::AllWrong) return {};
    part_.emplace(*own_, outlines_);
    return part_->start(party);
  }

  const HandleUse own_;  // an intercommunicator, or grid_comm()
  const char* const function_;
  const MpiError why_;
  bool told_ = false;
  CallRecord::Answer answer_{};
  std::vector<std::optional<Outline>> outlines_;
  std::optional<TakingPart> part_;
};

/// A persistent one that could not be started.
class StartedWrongly final : public Operation {
 public:
  StartedWrongly(const Call& call, const MpiError& why) : part_(call, why) {
    comm = call.comm->native;
  }
  bool advance() override {
    if (!part_.advance()) return false;
    result.error = part_.own_error();
    return true;
  }

 private:
  WrongCall part_;
};

}  // namespace

std::unique_ptr<Operation> started_wrongly(const Call& call, const MpiError& why) {
  return std::make_unique<StartedWrongly>(call, why);
}

void launch_wrong(const Call& call, const MpiError& why) {
  auto collective = std::make_unique<WrongCall>(call, why);
  if (call.blocking()) collective->wait_for();
  {
    const core::Lock lock(progress_mutex);
    if (collective->advance()) return;
  }
  keep(std::move(collective));
}

int launch(std::unique_ptr<Collective> collective, const Call& call) {
  if (call.made != nullptr) {
    *call.made = std::move(collective);
    return MPI_SUCCESS;
  }
  if (!call.blocking()) return make_request(std::move(collective), call.request);
  collective->wait_for();
  return complete(*collective, MPI_STATUS_IGNORE, call.function);
}

}  // namespace isthmus::face
