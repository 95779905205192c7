// For very short vectors: everybody gets everybody's from the leaders (patterns/short_vectors.cpp).
#include "coll/allgather/allgather.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/scan/scan.hpp"

namespace isthmus::coll {

Task scan_fan(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
              Parameters) {
  return prefix(allgather_fan, party, in, out, count, reduction, party.rank());
}

Task exscan_fan(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                Parameters) {
  return prefix(allgather_fan, party, in, out, count, reduction, party.rank() - 1);
}

namespace {

double cost_scan_fan(const Setting& setting, const Parameters& parameters) {
  const auto ranks = static_cast<std::size_t>(setting.layout.size());
  const Setting whole{
      setting.layout, setting.network, {Kind::Allgather, setting.bytes() * ranks, true}};
  return cost_allgather_fan(whole, parameters) + combining(setting);
}

}  // namespace

extern const Algorithm kScanFan{Kind::Scan, "fan", kNothing, kNone, cost_scan_fan, scan_fan, ""};
extern const Algorithm kExscanFan{Kind::Exscan,  "fan",      kNothing, kNone,
                                  cost_scan_fan, exscan_fan, ""};

}  // namespace isthmus::coll
