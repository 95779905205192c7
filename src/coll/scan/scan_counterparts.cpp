// For short vectors: everybody gets everybody's by the allgather between counterparts
// (patterns/short_vectors.cpp).
#include "coll/allgather/allgather.hpp"
#include "coll/engine/cost.hpp"
#include "coll/engine/phases.hpp"
#include "coll/scan/scan.hpp"

namespace isthmus::coll {

Task scan_counterparts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                       Reduction& reduction, Parameters) {
  return prefix(allgather_counterparts, party, in, out, count, reduction, party.rank());
}

Task exscan_counterparts(Party& party, ConstBytes in, Bytes out, std::size_t count,
                         Reduction& reduction, Parameters) {
  return prefix(allgather_counterparts, party, in, out, count, reduction, party.rank() - 1);
}

double cost_scan_counterparts(const Setting& setting, const Parameters& parameters) {
  const auto ranks = static_cast<std::size_t>(setting.layout.size());
  const Setting whole{
      setting.layout, setting.network, {Kind::Allgather, setting.bytes() * ranks, true}};
  const double ways =
      setting.problem.kind == Kind::Allreduce ? detours(setting, setting.bytes()) : 0;
  return cost_allgather_counterparts(whole, parameters) + combining(setting) + ways;
}

extern const Algorithm kScanCounterparts{
    Kind::Scan, "counterparts", kNothing, kNone, cost_scan_counterparts, scan_counterparts, ""};
extern const Algorithm kExscanCounterparts{
    Kind::Exscan, "counterparts", kNothing, kNone, cost_scan_counterparts, exscan_counterparts, ""};

}  // namespace isthmus::coll
