#include "core/agreement/agreements.hpp"

#include <algorithm>
#include <utility>

namespace isthmus::core {

void Agreements::begin(std::uint64_t flags, const RankSet& acknowledged, std::uint64_t offer,
                       AgreementMessages& out) {
  ++begun_;
  Agreement* const early = find(begun_);
  Agreement& now = early != nullptr ? *early : open(begun_, out);
  now.begin({flags, failed_, acknowledged}, offer, out);
  settle();
}

void Agreements::fail(const RankSet& ranks, AgreementMessages& out) {
  failed_.unite(ranks);
  for (Agreement& each : kept_) each.fail(failed_, out);
  settle();
}

bool Agreements::take(int from, std::span<const std::byte> bytes, AgreementMessages& out) {
  Reader in(bytes);
  const std::uint64_t number = in.u64();
  if (!in.good() || number == 0 || number > begun_ + 1) return false;
  Agreement* found = find(number);
  if (found == nullptr && number <= begun_) return true;  // decided by all that live
  if (found == nullptr) found = &open(number, out);
  if (!found->take(from, in, out)) return false;
  failed_.unite(found->failed());
  settle();
  return true;
}

const Decision* Agreements::decision() const {
  const Agreement* const last = find(begun_);
  return last == nullptr ? nullptr : last->decision();
}

Agreement* Agreements::find(std::uint64_t number) {
  return const_cast<Agreement*>(std::as_const(*this).find(number));
}

const Agreement* Agreements::find(std::uint64_t number) const {
  const auto at = std::find_if(kept_.begin(), kept_.end(),
                               [number](const Agreement& each) { return each.number() == number; });
  return at == kept_.end() ? nullptr : &*at;
}

Agreement& Agreements::open(std::uint64_t number, AgreementMessages& out) {
  Agreement& opened = kept_.emplace_back(number, me_, agreed_);
  opened.fail(failed_, out);
  return opened;
}

/// A member that begins an agreement has decided the one before. So once one is decided, every
/// living member has decided those before.
void Agreements::settle() {
  const Decision* const last = decision();
  if (last == nullptr) return;
  agreed_ = last->failed;
  failed_.unite(agreed_);
  while (kept_.front().number() < begun_) kept_.pop_front();
}

}  // namespace isthmus::core
