#include "core/agreement/agreement_testbed.hpp"

#include <utility>

namespace isthmus::core {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E37'79B9'7F4A'7C15 + (hash << 6) + (hash >> 2);
  hash *= 0xFF51'AFD7'ED55'8CCD;
  return hash ^ (hash >> 33);
}

std::uint64_t mark_of(const std::vector<std::byte>& bytes) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (const std::byte each : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x100'0000'01B3;
  }
  return hash;
}

}  // namespace

AgreeingMembers::AgreeingMembers(int size, int agreements, std::uint64_t seed, Failed failed)
    : size_(size), agreements_(agreements), seed_(seed), failed_(failed) {
  for (int rank = 0; rank < size; ++rank) {
    members_.push_back(
        {.agreements = Agreements(rank, size), .decided = {}, .told = RankSet(size)});
  }
  network_.resize(index(size) * index(size));
}

std::deque<std::vector<std::byte>>& AgreeingMembers::between(int from, int to) {
  return network_[index(from) * index(size_) + index(to)];
}
const std::deque<std::vector<std::byte>>& AgreeingMembers::between(int from, int to) const {
  return network_[index(from) * index(size_) + index(to)];
}

std::uint64_t AgreeingMembers::flags_of(int rank, int agreement) const {
  const auto lacks = mix(mix(seed_, index(rank)), index(agreement)) % 64;
  return ~(std::uint64_t{1} << lacks);
}

std::vector<AgreeingMembers::Step> AgreeingMembers::steps(int failures) const {
  std::vector<Step> possible;
  int declared = 0;
  for (const Member& member : members_) declared += member.declared ? 1 : 0;
  for (int rank = 0; rank < size_; ++rank) {
    const Member& member = members_[index(rank)];
    if (member.declared && failed_ == Failed::Stops) continue;
    const bool waits = index(member.begun) > member.decided.size();
    if (!waits && member.begun < agreements_) possible.push_back({Step::Kind::Begin, rank});
    for (int other = 0; other < size_; ++other) {
      if (!between(other, rank).empty()) possible.push_back({Step::Kind::Deliver, rank, other});
      if (waits && members_[index(other)].declared && other != rank && !member.told.has(other)) {
        possible.push_back({Step::Kind::Tell, rank, other});
      }
    }
    if (!member.declared && declared < failures) possible.push_back({Step::Kind::Declare, rank});
  }
  return possible;
}

void AgreeingMembers::note(Member& member, std::uint64_t input) {
  member.history = mix(member.history, input);
}

void AgreeingMembers::send(int from, const AgreementMessages& messages) {
  for (const AgreementMessage& message : messages) {
    between(from, message.to).push_back(message.bytes);
    ++sent_;
  }
}

void AgreeingMembers::take(const Step& step) {
  Member& member = members_[index(step.who)];
  AgreementMessages out;
  switch (step.kind) {
    case Step::Kind::Begin: {
      const std::uint64_t offer = mix(seed_, index(step.who * 100 + member.begun));
      note(member, 1);
      member.agreements.begin(flags_of(step.who, member.begun++), member.told, offer, out);
      break;
    }
    case Step::Kind::Deliver: {
      const auto bytes = std::move(between(step.what, step.who).front());
      between(step.what, step.who).pop_front();
      note(member, mix(mark_of(bytes), index(step.what)));
      broken_ = !member.agreements.take(step.what, bytes, out) || broken_;
      break;
    }
    case Step::Kind::Tell: {
      RankSet told(size_);
      told.add(step.what);
      member.told.add(step.what);
      note(member, mix(2, index(step.what)));
      member.agreements.fail(told, out);
      break;
    }
    case Step::Kind::Declare:
      member.declared = true;
      break;
  }
  send(step.who, out);
  look(step.who);
}

void AgreeingMembers::look(int rank) {
  Member& member = members_[index(rank)];
  const Decision* const decision = member.agreements.decision();
  if (decision == nullptr) return;
  if (index(member.begun) > member.decided.size()) member.decided.push_back(*decision);
}

std::string AgreeingMembers::wrong_decision(int agreement, const Decision& decision) const {
  std::uint64_t living = ~std::uint64_t{0};
  std::uint64_t all = living;
  for (int rank = 0; rank < size_; ++rank) {
    const std::uint64_t flags = flags_of(rank, agreement);
    all &= flags;
    if (!members_[index(rank)].declared) living &= flags;
  }
  if ((decision.flags & ~living) != 0) return "a living member's flags are not in the decision";
  if ((all & ~decision.flags) != 0) return "the decision lacks flags that nobody cleared";
  for (const int rank : decision.failed.ranks()) {
    if (!members_[index(rank)].declared) return "a living member is decided to have failed";
  }
  return {};
}

std::string AgreeingMembers::wrong() const {
  if (broken_) return "a message was refused";
  for (int agreement = 0; agreement < agreements_; ++agreement) {
    const Decision* first = nullptr;
    for (const Member& member : members_) {
      if (member.agreements.kept() > 3) return "a member keeps too many agreements";
      if (member.declared || member.decided.size() <= index(agreement)) continue;
      const Decision& mine = member.decided[index(agreement)];
      if (first == nullptr) first = &mine;
      if (*first != mine) return "members that live have different decisions";
      const std::string why = wrong_decision(agreement, mine);
      if (!why.empty()) return why;
    }
  }
  return {};
}

std::string AgreeingMembers::unfinished() const {
  for (int rank = 0; rank < size_; ++rank) {
    const Member& member = members_[index(rank)];
    if (member.declared || member.decided.size() == index(agreements_)) continue;
    return "member " + std::to_string(rank) + " waits for agreement " +
           std::to_string(member.begun) + " for ever";
  }
  return {};
}

std::uint64_t AgreeingMembers::mark() const {
  std::uint64_t hash = seed_;
  for (const Member& member : members_) {
    hash = mix(mix(hash, member.history), member.declared ? 1 : 0);
  }
  return hash;
}

}  // namespace isthmus::core
