// The default segment sizes of pipelined algorithms.
#pragma once

#include <cstddef>

#include "coll/engine/network.hpp"
#include "coll/engine/parameters.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// For bcast and reduce along striped trees.
std::size_t striped_segment(const Layout& layout, const Network& network, std::size_t bytes,
                            const Parameters& parameters);

/// For allreduce's pipeline: bytes of the vector, over all members.
std::size_t pipelined_segment(const Layout& layout, const Network& network, std::size_t bytes,
                              const Parameters& parameters);

/// For the part that each of n senders carries across: it is handed the part and hands it on.
std::size_t carried_segment(const Network& network, std::size_t bytes, int senders,
                            const Parameters& parameters);

}  // namespace isthmus::coll
