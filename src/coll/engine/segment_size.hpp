// The segment sizes of pipelined algorithms where none is asked for.
#pragma once

#include <cstddef>

#include "coll/engine/network.hpp"
#include "coll/engine/parameters.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::coll {

/// Of bcast and reduce along striped trees.
std::size_t striped_segment(const Layout& layout, const Network& network, std::size_t bytes,
                            const Parameters& parameters);

/// Of allreduce's pipeline: bytes of the vector, over all members.
std::size_t pipelined_segment(const Layout& layout, const Network& network, std::size_t bytes,
                              const Parameters& parameters);

/// Of what each of n senders carries across, being handed it and handing it on.
std::size_t carried_segment(const Network& network, std::size_t bytes, int senders,
                            const Parameters& parameters);

}  // namespace isthmus::coll
