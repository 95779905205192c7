// The algorithms of MPI_Scan and MPI_Exscan: coroutines with the arguments of collectives.hpp, and
// their rows. Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task scan_chain(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task scan_counterparts(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task scan_fan(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task scan_transpose(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task exscan_chain(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task exscan_counterparts(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                         Parameters);
Task exscan_fan(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task exscan_transpose(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);

double cost_scan_counterparts(const Setting&, const Parameters&);

}  // namespace isthmus::coll
