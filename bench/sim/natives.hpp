// The collectives of a cluster's native MPI, as trees of messages: their messages share the links
// with all others, and may come late. Libraries differ; these algorithms are the most common for
// equal processes, each on a node of its own. They are binomial trees, dissemination, Bruck's
// allgather, scatter and allgather for long broadcasts. Gathers, scatters and alltoalls of blocks
// of any size are linear in all libraries, since only some of their members know the sizes.
#pragma once

#include <span>

#include "coll/inter/local_messages.hpp"

namespace isthmus::sim {

coll::Task native_barrier(coll::Locals locals);
coll::Task native_bcast(coll::Locals locals, coll::Bytes data, int root);
coll::Task native_allgather(coll::Locals locals, coll::ConstBytes mine, coll::Bytes all,
                            std::span<const std::size_t> sizes);
coll::Task native_scan(coll::Locals locals, coll::ConstBytes in, coll::Bytes out, std::size_t count,
                       coll::Reduction& reduction);

}  // namespace isthmus::sim
