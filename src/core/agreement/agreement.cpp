#include "core/agreement/agreement.hpp"

#include <utility>

namespace isthmus::core {
namespace {

enum Says : std::uint8_t { kAsks = 1, kAnswers, kDecides };

void write_contribution(Writer& out, const Contribution& contribution) {
  out.u64(contribution.flags);
  write_ranks(out, contribution.failed);
  write_ranks(out, contribution.acknowledged);
}

std::optional<Contribution> read_contribution(Reader& in, int size) {
  const std::uint64_t flags = in.u64();
  auto failed = read_ranks(in, size);
  if (!failed) return std::nullopt;
  auto acknowledged = read_ranks(in, size);
  if (!acknowledged) return std::nullopt;
  return Contribution{flags, std::move(*failed), std::move(*acknowledged)};
}

}  // namespace

Agreement::Agreement(std::uint64_t number, int me, const RankSet& known)
    : number_(number),
      me_(me),
      failed_(known),
      coordinator_(known.first_missing()),
      heard_(known.size()),
      gathered_{~std::uint64_t{0}, RankSet(known.size()), RankSet::all(known.size())} {}

void Agreement::begin(const Contribution& mine, std::uint64_t offer, AgreementMessages& out) {
  begun_ = true;
  mine_ = mine;
  offer_ = offer;
  gather(me_, mine_);
  failed_.unite(mine_.failed);
  follow(out);
}

void Agreement::fail(const RankSet& ranks, AgreementMessages& out) {
  if (failed_.unite(ranks)) follow(out);
}

bool Agreement::take(int from, Reader& in, AgreementMessages& out) {
  if (from < 0 || from >= failed_.size() || from == me_) return false;
  const auto says = static_cast<Says>(in.u8());
  const auto failed = read_ranks(in, failed_.size());
  if (!failed) return false;
  // This member has failed itself, as others see it; then it is about to be ended.
  if (failed_.has(from) || failed_.has(me_) || failed->has(me_)) return true;
  failed_.unite(*failed);
  if (says == kAnswers) {
    if (!take_answer(from, in)) return false;
  } else if (says == kDecides) {
    if (!take_decision(from, in)) return false;
  } else if (says != kAsks || !in.at_end()) {
    return false;
  }
  follow(out);
  return true;
}

bool Agreement::take_answer(int from, Reader& in) {
  const auto contribution = read_contribution(in, failed_.size());
  if (!contribution) return false;
  if (in.u8() != 0) {
    auto accepted = read_accepted(in);
    if (!accepted) return false;
    if (!newest_ || newest_->coordinator < accepted->coordinator) newest_ = std::move(accepted);
  }
  if (!in.good() || !in.at_end()) return false;
  gather(from, *contribution);
  return true;
}

bool Agreement::take_decision(int from, Reader& in) {
  auto accepted = read_accepted(in);
  if (!accepted || !in.at_end() || accepted->coordinator != from || !begun_) return false;
  accepted_ = std::move(accepted);
  return true;
}

void Agreement::gather(int from, const Contribution& contribution) {
  heard_.add(from);
  gathered_.flags &= contribution.flags;
  gathered_.failed.unite(contribution.failed);
  gathered_.acknowledged.intersect(contribution.acknowledged);
}

/// Does what the known failures demand.
void Agreement::follow(AgreementMessages& out) {
  if (failed_.has(me_)) return;
  const int lowest = failed_.first_missing();
  const bool moved = std::exchange(coordinator_, lowest) != lowest;
  if (lowest == me_) {
    if (moved) ask_all(out);
    conclude(out);
  } else if (begun_ && (moved || (!accepted_ && told_ != failed_))) {
    answer(out);  // the coordinator may wait for one that has failed
  }
}

void Agreement::conclude(AgreementMessages& out) {
  if (!begun_ || concluded_) return;
  RankSet settled = heard_;
  settled.unite(failed_);
  if (settled.first_missing() != settled.size()) return;
  concluded_ = true;
  if (accepted_ && (!newest_ || newest_->coordinator < accepted_->coordinator)) newest_ = accepted_;
  if (newest_) {
    accepted_ = newest_;
  } else {
    gathered_.failed.unite(failed_);
    accepted_ = Accepted{me_, {gathered_, offer_}};
  }
  accepted_->coordinator = me_;
  send_decision(out);
}

Writer Agreement::write(AgreementMessages& out, int to, std::uint8_t says) const {
  Writer writer(out.emplace_back(AgreementMessage{to, {}}).bytes);
  writer.u64(number_);
  writer.u8(says);
  write_ranks(writer, failed_);
  return writer;
}

void Agreement::ask_all(AgreementMessages& out) const {
  for (int rank = 0; rank < failed_.size(); ++rank) {
    if (rank != me_ && !failed_.has(rank)) write(out, rank, kAsks);
  }
}

void Agreement::answer(AgreementMessages& out) {
  told_ = failed_;
  Writer writer = write(out, coordinator_, kAnswers);
  write_contribution(writer, mine_);
  writer.u8(accepted_ ? 1 : 0);
  if (!accepted_) return;
  writer.u32(static_cast<std::uint32_t>(accepted_->coordinator));
  write_contribution(writer, accepted_->decision);
  writer.u64(accepted_->decision.word);
}

void Agreement::send_decision(AgreementMessages& out) const {
  for (int rank = 0; rank < failed_.size(); ++rank) {
    if (rank == me_ || failed_.has(rank)) continue;
    Writer writer = write(out, rank, kDecides);
    writer.u32(static_cast<std::uint32_t>(me_));
    write_contribution(writer, accepted_->decision);
    writer.u64(accepted_->decision.word);
  }
}

std::optional<Agreement::Accepted> Agreement::read_accepted(Reader& in) const {
  const std::uint32_t coordinator = in.u32();
  auto contribution = read_contribution(in, failed_.size());
  const std::uint64_t word = in.u64();
  if (!contribution || !in.good()) return std::nullopt;
  if (coordinator >= static_cast<std::uint32_t>(failed_.size())) return std::nullopt;
  return Accepted{static_cast<int>(coordinator), {std::move(*contribution), word}};
}

}  // namespace isthmus::core
