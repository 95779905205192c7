// Everybody posts its vector, and combines those of the ranks up to itself, or before it.
#include "coll/patterns/posts.hpp"
#include "coll/scan/scan.hpp"

namespace isthmus::coll {
namespace {

Task prefix_of_posts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                     Reduction& reduction, int last) {
  if (in.empty()) co_return;
  Commons& commons = *party.commons();
  co_await commons.make_room(in.size());
  commons.put(in);
  commons.post();
  if (last < 0) co_return;
  co_await commons.posted_up_to(last);
  combine_posts(commons, last, in.size(), 0, out, count, reduction);
}

double cost_scan_commons(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  return cost_of_rounds(setting, 1, 2 * bytes, bytes * (setting.layout.size() - 1));
}

}  // namespace

static Task scan_commons(Party& party, ConstBytes in, Bytes out, std::size_t count,
                         Reduction& reduction, Parameters) {
  return prefix_of_posts(party, in, out, count, reduction, party.rank());
}

static Task exscan_commons(Party& party, ConstBytes in, Bytes out, std::size_t count,
                           Reduction& reduction, Parameters) {
  return prefix_of_posts(party, in, out, count, reduction, party.rank() - 1);
}

extern const Algorithm kScanCommons{Kind::Scan,        "commons",    kCommons, kNone,
                                    cost_scan_commons, scan_commons, ""};
extern const Algorithm kExscanCommons{Kind::Exscan,      "commons",      kCommons, kNone,
                                      cost_scan_commons, exscan_commons, ""};

}  // namespace isthmus::coll
