#include "coll/patterns/posted_reduction.hpp"

#include <algorithm>
#include <exception>

#include "coll/patterns/posts.hpp"

namespace isthmus::coll {
namespace {

/// The beginning of a rank's part of a vector of `count` elements, in bytes.
std::size_t part_begin(int rank, int ranks, std::size_t count, std::size_t unit) {
  return count * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks) * unit;
}

/// A round takes longer than to combine few bytes.
bool combine_by_parts(const Layout& layout, std::size_t bytes, bool commutative) {
  constexpr std::size_t kFew = std::size_t{16} << 10;  // of the vectors of all ranks together
  return bytes * static_cast<std::size_t>(layout.size()) > kFew && commutative;
}

}  // namespace

bool posts_hold_elements(Party& party, ConstBytes in, std::size_t count) {
  return in.empty() || in.size() / count <= party.commons()->capacity();
}

Task reduce_by_posts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                     Reduction& reduction, int root) {
  if (in.empty()) co_return;
  Commons& commons = *party.commons();
  const int ranks = party.layout().size(), me = party.rank();
  const bool mine_to_have = root == kToAll || root == me;
  const std::size_t unit = in.size() / count, most = commons.capacity();
  const std::size_t each = posted_at_once(in.size(), most, most, unit);
  for (std::size_t at = 0; at < in.size(); at += each) {
    const ConstBytes mine = in.subspan(at, std::min(each, in.size() - at));
    const Bytes result = mine_to_have ? out.subspan(at, mine.size()) : Bytes{};
    const std::size_t elements = mine.size() / unit;
    co_await commons.make_room(mine.size());
    commons.put(mine);
    commons.post();
    const bool parts = combine_by_parts(party.layout(), mine.size(), reduction.commutative());
    if (!parts && !mine_to_have) continue;
    co_await commons.posted_by_all();
    if (!parts) {
      combine_posts(commons, ranks - 1, mine.size(), 0, result, elements, reduction);
      continue;
    }
    const auto begin = [&](int rank) { return part_begin(rank, ranks, elements, unit); };
    const std::size_t first = begin(me), size = begin(me + 1) - first;
    co_await commons.make_room(size);
    std::exception_ptr failure;
    try {
      combine_posts(commons, ranks - 1, mine.size(), first, commons.place(), size / unit,
                    reduction);
      commons.post();
    } catch (...) {
      failure = std::current_exception();
      commons.post_failure();
    }
    if (failure) std::rethrow_exception(failure);
    if (!mine_to_have) continue;
    for (int rank = 0; rank < ranks; ++rank) {
      co_await commons.posted(rank);
      commons.take(rank, result.subspan(begin(rank), begin(rank + 1) - begin(rank)));
    }
  }
}

double cost_reduce_by_posts(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  const bool parts = combine_by_parts(setting.layout, setting.bytes(), setting.problem.commutative);
  const double vectors = parts ? 1 : setting.layout.size() - 1;
  const int pieces = rounds_for(setting.bytes(), setting.capacity, setting.capacity);
  return cost_of_rounds(setting, pieces * (parts ? 2 : 1), 3 * bytes, bytes * vectors);
}

}  // namespace isthmus::coll
