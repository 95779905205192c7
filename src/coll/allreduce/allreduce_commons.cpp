// Everybody posts its vector. Of few bytes everybody combines all; of more, and where vectors may
// be cut, everybody combines a part and posts that in a second round.
#include <exception>

#include "coll/allreduce/allreduce.hpp"
#include "coll/patterns/posts.hpp"

namespace isthmus::coll {
namespace {

/// Of the vectors of all ranks together: a round takes longer than to combine fewer.
constexpr std::size_t kFew = std::size_t{16} << 10;

bool by_parts(const Layout& layout, std::size_t bytes, bool commutative) {
  return bytes * static_cast<std::size_t>(layout.size()) > kFew && commutative;
}

}  // namespace

Task allreduce_commons(Party& party, ConstBytes in, Bytes out, std::size_t count,
                       Reduction& reduction, Parameters) {
  if (in.empty()) co_return;
  Commons& commons = *party.commons();
  const int ranks = party.layout().size();
  {
    Pending room = commons.make_room(in.size());
    co_await room;
  }
  commons.put(in);
  commons.post();
  {
    Pending all = commons.posted_by_all();
    co_await all;
  }
  if (!by_parts(party.layout(), in.size(), reduction.commutative())) {
    combine_posts(commons, ranks - 1, in.size(), 0, out, count, reduction);
    co_return;
  }
  const std::size_t unit = in.size() / count;
  const auto begin = [&](int rank) {
    return count * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks) * unit;
  };
  const std::size_t first = begin(party.rank()), size = begin(party.rank() + 1) - first;
  {
    Pending room = commons.make_room(size);
    co_await room;
  }
  std::exception_ptr failure;
  try {
    combine_posts(commons, ranks - 1, in.size(), first, commons.place(), size / unit, reduction);
    commons.post();
  } catch (...) {
    failure = std::current_exception();
    commons.post_failure();
  }
  if (failure) std::rethrow_exception(failure);
  for (int rank = 0; rank < ranks; ++rank) {
    Pending posted = commons.posted(rank);
    co_await posted;
    commons.take(rank, out.subspan(begin(rank), begin(rank + 1) - begin(rank)));
  }
}

namespace {

double cost_allreduce_commons(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  const bool parts = by_parts(setting.layout, setting.bytes(), setting.problem.commutative);
  const double vectors = parts ? 1 : setting.layout.size() - 1;
  return cost_of_rounds(setting, parts ? 2 : 1, 3 * bytes, bytes * vectors);
}

}  // namespace

const Algorithm kAllreduceCommons{Kind::Allreduce,        "commons",         kCommons, kNone,
                                  cost_allreduce_commons, allreduce_commons, ""};

}  // namespace isthmus::coll
