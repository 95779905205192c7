// The parameters of an algorithm. Zero: the algorithm's own default for the message and the grid at
// hand.
#pragma once

#include <cstddef>

namespace isthmus::coll {

struct Parameters {
  std::size_t segment = 0;  ///< bytes that travel as one message in pipelined algorithms
  int senders = 0;          ///< members of each cluster that send to other clusters: the papers' n
};

}  // namespace isthmus::coll
