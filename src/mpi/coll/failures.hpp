// Notices between the members of a communicator about a collective that failed on one of them. A
// member that then waits for it in vain ends the job with the reason; some would natively wait for
// ever.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Begins to listen: when the grid is joined.
void hear_of_failures();

/// A collective has begun here, and is the one of that number (GridComm::begun).
void look_for_failure(const GridComm& comm, std::uint64_t number);

/// Returns the first failure on the communicator, before the collective of that number, as far as
/// this rank knows. Ranks may disagree about which collective they are in from
/// then on.
std::optional<std::string> earlier_failure(const GridComm& comm, std::uint64_t number);

/// Notifies the other members that it has failed here, best effort. In a very large communicator it
/// reaches only some.
void tell_failure(const GridComm& comm, std::uint64_t number, const std::string& function,
                  const std::string& reason);

}  // namespace isthmus::face
