// `isthmusd estimate`: what collectives would take, by the formulas that choose their algorithms.
// For `isthmus profile show`.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace isthmus::coll {

/// Of a line such as
///   allreduce 8 0x2,1x2 wan-latency=5ms,wan-rate=1G
/// the algorithm that would be chosen and its estimated seconds: "counterparts 0.0052". The second
/// word is Problem::bytes, the third the cluster of each rank, by runs; the rest is for
/// parse_network, over that of one host: what a cluster does within itself hardly counts. Throws
/// std::invalid_argument with a sentence.
std::string estimate(std::string_view line);

/// An answer for each line of `in`. 0; 2 after a line that is wrong, which `err` is told.
int run_estimates(std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace isthmus::coll
