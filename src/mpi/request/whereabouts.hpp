// This process's place in the program, in words for `isthmus run` (docs/control.md, `where`).
#pragma once

#include <string>

#include "net/endpoint/endpoint.hpp"

namespace isthmus::face {

/// JSON. Calls no MPI: the I/O thread may call it.
std::string whereabouts(int world_rank, const net::Sight& sight);

}  // namespace isthmus::face
