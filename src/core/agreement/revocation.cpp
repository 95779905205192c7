#include "core/agreement/revocation.hpp"

#include "core/wire/wire.hpp"

namespace isthmus::core {

std::vector<std::byte> Come::bytes() const {
  std::vector<std::byte> all;
  Writer out(all);
  out.u64(begun);
  out.u64(ended);
  return all;
}

std::optional<Come> Come::read(std::span<const std::byte> bytes) {
  Reader in(bytes);
  Come come;
  come.begun = in.u64();
  come.ended = in.u64();
  return in.good() && in.at_end() ? std::optional(come) : std::nullopt;
}

// All living members hear the same. So they come to the same verdict, except on what only a member
// that has failed meanwhile has told.
Revocation::Verdict Revocation::verdict(const RankSet& failed) const {
  if (!revoked()) return Verdict::Open;
  const std::uint64_t number = mine_->begun;
  if (mine_->ended >= number) return Verdict::Ends;  // none is under way
  bool all_heard = true;
  bool ended_well = false;
  for (int rank = 0; rank < failed.size(); ++rank) {
    if (rank == me_) continue;
    const auto at = static_cast<std::size_t>(rank);
    const Come* const come = at < heard_.size() && heard_[at] ? &*heard_[at] : nullptr;
    ended_well = ended_well || (come != nullptr && come->ended >= number);
    if (failed.has(rank)) continue;
    if (come != nullptr && come->begun < number) return Verdict::Ends;
    all_heard = all_heard && come != nullptr;
  }
  if (!all_heard) return Verdict::Open;
  return ended_well ? Verdict::EndsWell : Verdict::Ends;
}

}  // namespace isthmus::core
