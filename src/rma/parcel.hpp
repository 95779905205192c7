// The origin's knowledge of a target, and its messages to it. For origin.cpp and
// synchronization.cpp.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "rma/gate.hpp"
#include "rma/limits.hpp"
#include "rma/origin.hpp"

namespace isthmus::rma {

inline void count_down(const Ticket& ticket, core::OpError error) {
  if (!ticket) return;
  if (error == core::OpError::Failed) ticket->fetch_or(kLost);
  ticket->fetch_sub(1);
}

struct Origin::Partner {
  Gate gate;
  std::vector<std::byte> batch;
  std::size_t batch_answers = 0;  // bytes that the batch requests
  std::deque<Parcel*> held;       // may not be sent yet, in order
  std::size_t backlog = 0;        // bytes of batches that have not been sent
  std::size_t apart = 0;          // data to be sent, or under way
  std::size_t fetches = 0;        // answers that must come
  bool unflushed = false;         // something was begun since the last number
  bool unlanded = false;  // data has been begun since the last number that goes or comes apart
  std::optional<Failure> failure;
  bool lost = false;  // it has failed, and something was under way or begun since
  std::unordered_map<std::string, std::uint32_t> map_numbers;

  bool caught_up() const {
    if (gate.failed()) return batch.empty() && held.empty() && apart == 0 && fetches == 0;
    return batch.empty() && held.empty() && apart == 0 && fetches == 0 && !unflushed &&
           gate.answered(gate.last_number());
  }
};

/// A message to a partner, in order; its own last owner, like all that follow.
struct Origin::Parcel : core::SendOp, core::Completion {
  Parcel(Origin& origin_, Partner& to_) : origin(origin_), to(to_), requests(to_.gate.asked()) {
    then = this;
    ++origin.under_way_;
  }
  virtual ~Parcel() = default;
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;
  /// Hands it to the engine, or a part of it.
  virtual void go(core::Engine& engine) { engine.send(*this); }
  /// Whether the next go() is the last.
  virtual bool last() const { return true; }
  /// The next part, as the gate sees it.
  virtual Gate::Message next() const { return {requests}; }
  Origin& origin;
  Partner& to;
  const Gate::Asked requests;
};

/// Records on their way.
struct Origin::Batch final : Parcel {
  Batch(Origin& origin_, Partner& to_)
      : Parcel(origin_, to_),
        bytes(std::exchange(to_.batch, {})),
        answers(std::exchange(to_.batch_answers, 0)) {
    envelope = origin.channel_.of_records();
    data = bytes;
    to.backlog += bytes.size();
  }
  void over(core::Op& /*op*/) override {
    to.backlog -= bytes.size();
    --origin.under_way_;
    delete this;
  }
  Gate::Message next() const override { return {requests, bytes.size(), answers}; }
  const std::vector<std::byte> bytes;
  const std::size_t answers;  // bytes that they ask for
};

/// Data of the program's on its way.
struct Origin::Apart final : Parcel {
  Apart(Origin& origin_, Partner& to_, std::shared_ptr<void> keep_, Ticket ticket_)
      : Parcel(origin_, to_), keep(std::move(keep_)), ticket(std::move(ticket_)) {
    ++to.apart;
    if (ticket) ticket->fetch_add(1);
  }
  void over(core::Op& /*op*/) override {
    --to.apart;
    --origin.under_way_;
    count_down(ticket, error);
    delete this;
  }
  const std::shared_ptr<void> keep;
  const Ticket ticket;
};

/// Data of an accumulate, which goes in messages of the service behind its record.
struct Origin::Stream final : Parcel {
  Stream(Origin& origin_, Partner& to_, std::span<const std::byte> all, std::size_t most_,
         std::shared_ptr<void> keep_, Ticket ticket_)
      : Parcel(origin_, to_), most(most_), keep(std::move(keep_)), ticket(std::move(ticket_)) {
    data = all;
    ++to.apart;
    if (ticket) ticket->fetch_add(1);
  }
  std::size_t next_size() const { return std::min(most, data.size() - gone); }
  void go(core::Engine& engine) override {
    auto part = std::make_unique<core::SendOp>();
    part->peer = peer;
    part->envelope = origin.channel_.of_records(kDataTag);
    part->data = data.subspan(gone, next_size());
    part->before = gone;
    gone += part->data.size();
    part->behind = data.size() - gone;
    part->then = this;
    ++parts;
    engine.send(*part.release());
  }
  bool last() const override { return data.size() - gone <= most; }
  Gate::Message next() const override { return {requests, next_size(), 0, true}; }
  void over(core::Op& op) override {
    auto* const part = &static_cast<core::SendOp&>(op);
    if (part->error != core::OpError::None) error = part->error;
    delete part;
    Origin& here = origin;
    Partner& partner = to;
    partner.gate.part_ended();
    if (--parts == 0 && gone == data.size()) {
      --partner.apart;
      --here.under_way_;
      count_down(ticket, error);
      delete this;
    }
    here.release(partner);
  }
  const std::size_t most;  // bytes of a part
  std::size_t gone = 0;
  std::size_t parts = 0;  // under way
  const std::shared_ptr<void> keep;
  const Ticket ticket;
};

/// An answer that must come.
struct Origin::Fetch final : core::RecvOp, core::Completion {
  Fetch(Origin& origin_, Partner& target_, std::size_t copied_, Ticket ticket_)
      : origin(origin_), target(target_), copied(copied_), ticket(std::move(ticket_)) {
    then = this;
    ++target.fetches;
    ++origin.under_way_;
    if (ticket) ticket->fetch_add(1);
  }
  void over(core::Op& /*op*/) override {
    Origin& here = origin;
    Partner& partner = target;
    --partner.fetches;
    partner.gate.answers_came(copied);
    --here.under_way_;
    count_down(ticket, error);
    delete this;
    here.release(partner);
  }
  Origin& origin;
  Partner& target;
  const std::size_t copied;  // bytes of it that the partner has to copy
  const Ticket ticket;
};

}  // namespace isthmus::rma
