// The collectives, written once as coroutines over Party. One file per algorithm; this is the
// list that callers choose from. Semantics: MPI-4.1 chapter 6. Data is packed bytes; sizes are in
// bytes, by rank. Arguments are kept by the coroutine; the memory they name must outlive it.
// Every rank of the communicator calls with matching arguments.
#pragma once

#include <cstddef>
#include <vector>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

using Sizes = std::vector<std::size_t>;

Task barrier(Party& party);
Task bcast(Party& party, Bytes data, int root);

/// Even: all blocks are of one size, which every rank knows, so that it can decide on the
/// algorithm.
enum class Blocks { Uneven, Even };

/// `all` matters at the root only. `sizes` may be empty elsewhere, on every rank, since each rank
/// knows its own contribution. If every rank gives it, a local phase is saved. `mine` and `all` do
/// not overlap (callers copy for MPI_IN_PLACE); so for allgather, alltoall.
Task gather(Party& party, ConstBytes mine, Bytes all, Sizes sizes, int root,
            Blocks blocks = Blocks::Uneven);
Task scatter(Party& party, ConstBytes all, Sizes sizes, Bytes mine, int root,
             Blocks blocks = Blocks::Uneven);
/// Every rank knows all sizes.
Task allgather(Party& party, ConstBytes mine, Bytes all, Sizes sizes);
/// Blocks by rank, concatenated. out_sizes[r] equals in_sizes[me] of rank r.
Task alltoall(Party& party, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes,
              Blocks blocks = Blocks::Uneven);

/// Messages along the edges of a virtual topology (MPI-4.1 section 8.6). An edge's two ends give
/// the same size; of several edges from one rank to another, both list the same one first.
struct OutEdge {
  int to;  ///< a rank; may be this one
  ConstBytes data;
};
struct InEdge {
  int from;
  Bytes data;
};
Task neighbors(Party& party, std::vector<OutEdge> out, std::vector<InEdge> in);

/// `out` matters at the root only. `in` and `out` do not overlap (callers copy for MPI_IN_PLACE).
Task reduce(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
            int root);
/// The same bits on every rank.
Task allreduce(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction);
/// counts by rank, in elements; `out` gets this rank's block.
Task reduce_scatter(Party& party, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                    Reduction& reduction);
Task scan(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction);
/// Rank 0's `out` is left untouched.
Task exscan(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction);

}  // namespace isthmus::coll
