// Every algorithm's function, for the table. Arguments as in collectives.hpp; each file says what
// its algorithm does and where it is from.
#pragma once

#include "coll/engine/collectives.hpp"
#include "coll/engine/parameters.hpp"

namespace isthmus::coll {

Task barrier_magpie(Party&, Parameters);
Task barrier_counterparts(Party&, Parameters);
Task barrier_fan(Party&, Parameters);

Task bcast_magpie(Party&, Bytes data, int root, Parameters);
Task bcast_direct(Party&, Bytes data, int root, Parameters);
Task bcast_farfirst(Party&, Bytes data, int root, Parameters);
Task bcast_van_de_geijn(Party&, Bytes data, int root, Parameters);
Task bcast_van_de_geijn_wan(Party&, Bytes data, int root, Parameters);
Task bcast_striped(Party&, Bytes data, int root, Parameters);
Task bcast_chained(Party&, Bytes data, int root, Parameters);

Task gather_magpie(Party&, ConstBytes mine, Bytes all, Sizes sizes, int root, Parameters);
Task gather_direct(Party&, ConstBytes mine, Bytes all, Sizes sizes, int root, Parameters);
Task scatter_magpie(Party&, ConstBytes all, Sizes sizes, Bytes mine, int root, Parameters);
Task scatter_direct(Party&, ConstBytes all, Sizes sizes, Bytes mine, int root, Parameters);
Task allgather_magpie(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
Task allgather_counterparts(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
Task allgather_fan(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
Task allgather_intervals(Party&, ConstBytes mine, Bytes all, Sizes sizes, Parameters);
/// Blocks of one size only.
Task alltoall_combined(Party&, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes,
                       Parameters);
/// Blocks of one size only.
Task alltoall_fan(Party&, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes, Parameters);
Task alltoall_direct(Party&, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes, Parameters);

Task reduce_magpie(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, int root,
                   Parameters);
Task reduce_striped(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, int root,
                    Parameters);
Task allreduce_magpie(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
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
Task reduce_scatter_magpie(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                           Reduction&, Parameters);
Task reduce_scatter_direct(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                           Reduction&, Parameters);
Task reduce_scatter_fan(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                        Reduction&, Parameters);
/// Partial results of clusters: commutative operations, or clusters that are blocks of ranks.
Task reduce_scatter_intervals(Party&, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                              Reduction&, Parameters);
Task scan_chain(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task scan_counterparts(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task scan_fan(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task scan_magpie(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task scan_transpose(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task exscan_chain(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task exscan_counterparts(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&,
                         Parameters);
Task exscan_fan(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task exscan_magpie(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);
Task exscan_transpose(Party&, ConstBytes in, Bytes out, std::size_t count, Reduction&, Parameters);

}  // namespace isthmus::coll
