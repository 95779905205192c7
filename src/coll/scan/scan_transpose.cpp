// The vector is cut into one interval for each rank. Rank i gets interval i of all vectors,
// straight, computes its prefixes for all ranks one after the other in rank order, and sends each
// rank its own. Two crossings in every layout, with all links equally busy. `ordered-cut` computes
// the prefixes of scan_ordered.cpp.
#include "coll/alltoall/alltoall.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/cut.hpp"
#include "coll/engine/phases.hpp"
#include "coll/patterns/rank_tree.hpp"
#include "coll/scan/scan.hpp"

namespace isthmus::coll {
namespace {

enum class Order { OneByOne, Tree };

struct Intervals {
  Intervals(const Party& party, std::size_t count, const Reduction& reduction)
      : counts(even_sizes(count, static_cast<std::size_t>(party.layout().size()))) {
    for (const std::size_t n : counts) sizes.push_back(reduction.packed_size(n));
    const auto me = static_cast<std::size_t>(party.rank());
    mine = counts[me];
    size = sizes[me];
    each.assign(counts.size(), size);
  }
  Sizes counts, sizes;  // by rank
  std::size_t mine = 0, size = 0;
  Sizes each;  // my interval of every rank's vector
};

/// My interval of all vectors becomes my interval of all inclusive prefixes.
Task prefixes(Party& party, ConstBytes in, const Intervals& cut, Buffer& rows, Reduction& reduction,
              Order order, Parameters parameters) {
  rows = Buffer(total(cut.each));
  co_await alltoall_direct(party, in, cut.sizes, rows.bytes(), cut.each, parameters);
  if (cut.size == 0) co_return;
  if (order == Order::Tree) {
    prefixes_in_tree(rows, cut.size, reduction, cut.mine);
    co_return;
  }
  for (std::size_t r = 1; r < cut.each.size(); ++r) {
    reduction.combine(rows.part((r - 1) * cut.size, cut.size), rows.part(r * cut.size, cut.size),
                      cut.mine);
  }
}

Task inclusive(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
               Order order, Parameters parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  const Intervals cut(party, count, reduction);
  Buffer rows;
  co_await prefixes(party, in, cut, rows, reduction, order, parameters);
  co_await alltoall_direct(party, rows.bytes(), cut.each, out, cut.sizes, parameters);
}

Task exclusive(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
               Order order, Parameters parameters) {
  if (reduction.packed_size(count) == 0) co_return;
  const Intervals cut(party, count, reduction);
  Buffer rows;
  co_await prefixes(party, in, cut, rows, reduction, order, parameters);
  // Rank r gets the prefix that ends before it. Rank 0 gets none, and its result stays unchanged.
  Sizes going = cut.each, coming = cut.sizes;
  going[0] = 0;
  Bytes result = out;
  if (party.rank() == 0) {
    coming.assign(coming.size(), 0);
    result = {};
  }
  const auto ending = rows.bytes().first((cut.each.size() - 1) * cut.size);
  co_await alltoall_direct(party, ending, std::move(going), result, std::move(coming), parameters);
}

}  // namespace

Task scan_transpose(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                    Parameters parameters) {
  return inclusive(party, in, out, count, reduction, Order::OneByOne, parameters);
}

Task exscan_transpose(Party& party, ConstBytes in, Bytes out, std::size_t count,
                      Reduction& reduction, Parameters parameters) {
  return exclusive(party, in, out, count, reduction, Order::OneByOne, parameters);
}

static Task scan_ordered_cut(Party& party, ConstBytes in, Bytes out, std::size_t count,
                             Reduction& reduction, Parameters parameters) {
  return inclusive(party, in, out, count, reduction, Order::Tree, parameters);
}

static Task exscan_ordered_cut(Party& party, ConstBytes in, Bytes out, std::size_t count,
                               Reduction& reduction, Parameters parameters) {
  return exclusive(party, in, out, count, reduction, Order::Tree, parameters);
}

namespace {

double cost_scan_transpose(const Setting& setting, const Parameters& parameters) {
  return 2 * cost_alltoall_direct(setting, parameters);
}

}  // namespace

extern const Algorithm kScanTranspose{Kind::Scan,          "transpose",    kCut, kNone,
                                      cost_scan_transpose, scan_transpose, ""};
extern const Algorithm kExscanTranspose{Kind::Exscan,        "transpose",      kCut, kNone,
                                        cost_scan_transpose, exscan_transpose, ""};
extern const Algorithm kScanOrderedCut{Kind::Scan,          "ordered-cut",    kOrderedCut, kNone,
                                       cost_scan_transpose, scan_ordered_cut, ""};
extern const Algorithm kExscanOrderedCut{
    Kind::Exscan, "ordered-cut", kOrderedCut, kNone, cost_scan_transpose, exscan_ordered_cut, ""};

}  // namespace isthmus::coll
