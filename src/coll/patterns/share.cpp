#include "coll/patterns/share.hpp"

#include <algorithm>

namespace isthmus::coll {

std::vector<std::size_t> even_cut(std::size_t bytes, std::size_t parts, std::size_t unit) {
  const std::size_t units = bytes / unit;
  std::vector<std::size_t> cut;
  for (std::size_t i = 0; i <= parts; ++i) {
    const std::size_t share = units / parts * i + units % parts * i / parts;
    cut.push_back(share * unit);
  }
  return cut;
}

std::vector<Share> even_shares(std::span<const int> ranks, std::size_t bytes, std::size_t unit) {
  const auto cut = even_cut(bytes, ranks.size(), unit);
  std::vector<Share> shares;
  shares.reserve(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    shares.push_back({ranks[i], cut[i], cut[i + 1]});
  }
  return shares;
}

namespace {

Share overlap(const Share& a, const Share& b) {
  const std::size_t first = std::max(a.first, b.first);
  return {0, first, std::max(first, std::min(a.last, b.last))};
}

}  // namespace

Task redistribute(Party& party, Bytes vector, std::vector<Share> from, std::vector<Share> to,
                  int tag) {
  const int me = party.rank();
  std::vector<Pending> pending;
  const auto exchange = [&](const Share& source, const Share& target) {
    if ((source.rank == me) == (target.rank == me)) return;  // neither, or here already
    const Share part = overlap(source, target);
    if (part.size() == 0) return;
    const Bytes bytes = vector.subspan(part.first, part.size());
    if (source.rank == me) {
      pending.push_back(party.send(target.rank, tag, bytes));
    } else {
      pending.push_back(party.recv(source.rank, tag, bytes));
    }
  };
  // All pairs of a thousand members would take longer to look at than the messages do.
  std::vector<const Share*> mine;
  for (const Share& target : to) {
    if (target.rank == me) mine.push_back(&target);
  }
  for (const Share& source : from) {
    if (source.rank == me) {
      for (const Share& target : to) exchange(source, target);
    } else {
      for (const Share* target : mine) exchange(source, *target);
    }
  }
  for (auto& p : pending) co_await p;
}

}  // namespace isthmus::coll
