// Everybody posts its vector. Of few bytes the root combines all; of more, and where vectors may be
// cut, everybody combines a part and posts that in a second round, for the root. Vectors that a
// post has no room for go in pieces.
#include <algorithm>
#include <exception>

#include "coll/patterns/posts.hpp"
#include "coll/reduce/reduce.hpp"

namespace isthmus::coll {

Task reduce_commons(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                    int root, Parameters) {
  if (in.empty()) co_return;
  Commons& commons = *party.commons();
  const int ranks = party.layout().size(), me = party.rank();
  const std::size_t unit = in.size() / count, most = commons.capacity();
  const std::size_t each = posted_at_once(in.size(), most, most, unit);
  if (each == 0) {
    co_await reduce_magpie(party, in, out, count, reduction, root, {});
    co_return;
  }
  for (std::size_t at = 0; at < in.size(); at += each) {
    const ConstBytes mine = in.subspan(at, std::min(each, in.size() - at));
    const Bytes result = me == root ? out.subspan(at, mine.size()) : Bytes{};
    const std::size_t elements = mine.size() / unit;
    {
      Pending room = commons.make_room(mine.size());
      co_await room;
    }
    commons.put(mine);
    commons.post();
    const bool parts = combine_by_parts(party.layout(), mine.size(), reduction.commutative());
    if (parts || me == root) {
      Pending all = commons.posted_by_all();
      co_await all;
    }
    if (!parts) {
      if (me == root) {
        combine_posts(commons, ranks - 1, mine.size(), 0, result, elements, reduction);
      }
      continue;
    }
    const auto begin = [&](int rank) { return part_begin(rank, ranks, elements, unit); };
    const std::size_t first = begin(me), size = begin(me + 1) - first;
    {
      Pending room = commons.make_room(size);
      co_await room;
    }
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
    if (me != root) continue;
    for (int rank = 0; rank < ranks; ++rank) {
      Pending posted = commons.posted(rank);
      co_await posted;
      commons.take(rank, result.subspan(begin(rank), begin(rank + 1) - begin(rank)));
    }
  }
}

namespace {

double cost_reduce_commons(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  const bool parts = combine_by_parts(setting.layout, setting.bytes(), setting.problem.commutative);
  const double vectors = parts ? 1 : setting.layout.size() - 1;
  const int pieces = rounds_for(setting.bytes(), setting.capacity, setting.capacity);
  return cost_of_rounds(setting, pieces * (parts ? 2 : 1), 3 * bytes, bytes * vectors);
}

}  // namespace

const Algorithm kReduceCommons{
    Kind::Reduce, "commons", kCommonsInPieces, kNone, cost_reduce_commons, reduce_commons, ""};

}  // namespace isthmus::coll
