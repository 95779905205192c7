// The algorithms of MPI_Allreduce: coroutines with the arguments of collectives.hpp, and their
// rows. Each file describes its algorithm and names its source.
#pragma once

#include "coll/engine/algorithm.hpp"

namespace isthmus::coll {

Task allreduce_magpie(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task allreduce_tree(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task allreduce_counterparts(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                            Parameters);
Task allreduce_fan(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task allreduce_two_tier(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                        Parameters);
Task allreduce_rabenseifner(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                            Parameters);
Task allreduce_rabenseifner_wan(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                                Parameters);
Task allreduce_pipelined(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                         Parameters);
Task allreduce_commons(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);

double cost_allreduce_magpie(const Setting&, const Parameters&);

extern const Algorithm kAllreduceMagpie;
extern const Algorithm kAllreduceTree;
extern const Algorithm kAllreduceCounterparts;
extern const Algorithm kAllreduceFan;
extern const Algorithm kAllreduceTwoTier;
extern const Algorithm kAllreduceRabenseifner;
extern const Algorithm kAllreduceRabenseifnerWan;
extern const Algorithm kAllreducePipelined;
extern const Algorithm kAllreduceCommons;

}  // namespace isthmus::coll
