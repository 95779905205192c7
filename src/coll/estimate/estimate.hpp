// `isthmusd estimate`: the time of collectives, by the formulas that choose their algorithms. For
// `isthmus profile show`.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace isthmus::coll {

/// For a line such as
///   allreduce 8 0x2,1x2 wan-latency=5ms,wan-rate=1G
/// returns the chosen algorithm and its estimated seconds: "counterparts 0.0052". The second word
/// is Problem::bytes, the third the cluster of each rank, by runs. The rest is for parse_network,
/// applied to the network of one host, since a cluster's internal network hardly counts. Throws
/// std::invalid_argument with a sentence.
std::string estimate(std::string_view line);

/// Answers each line of `in`. Returns 0, or 2 after a wrong line, with the error on `err`.
int run_estimates(std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace isthmus::coll
