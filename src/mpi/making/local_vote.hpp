// In a run whose clusters may fail, an exchange between members may end well at some and with an
// error at others. A blocking native call must not follow it at some members of a cluster alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "mpi/comm/comm.hpp"

namespace isthmus::face {

/// Runs `exchange`, after which `members` (ranks of `comm` in this cluster, ascending or in the
/// order of a group, mine among them) make a native call together. When it ends well at one of
/// them, all have begun it. If it then throws at one of them, this throws at all. Other runs: just
/// the exchange. `tag`: not that of another call under way or given up.
void before_native(const GridComm& comm, std::span<const int> members, int tag,
                   const std::function<void()>& exchange);

/// The same for a collective exchange of all members.
void before_native(const GridComm& comm, const std::function<void()>& exchange);

/// The same for the members of `group` in this cluster; `context` is of this call alone. If
/// `exchange` ends well at one of them, all that live have begun it.
void before_native(const core::Group& group, std::uint64_t context,
                   const std::function<void()>& exchange);

/// A tag for calls on parts of a communicator: of the group, and the program's.
int tag_among(const core::Group& group, int tag);

}  // namespace isthmus::face
