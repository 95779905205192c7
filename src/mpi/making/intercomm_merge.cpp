// MPI_Intercomm_merge: the members of both sides in one order. That is a reordering of the
// communicator that the intercommunicator's collectives use already.
#include <algorithm>
#include <span>
#include <vector>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/outcome.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// The common value of a side's members, who must agree.
bool high_of(std::span<const SplitChoice> side) {
  for (const SplitChoice& each : side) {
    if (each.colour == side.front().colour) continue;
    throw MpiError(MPI_ERR_ARG, "the members of one side differ in what they give as high");
  }
  return side.front().colour != 0;
}

int merge(const GridCommRef& parent, bool high, MPI_Comm* result) {
  const Inter& inter = *parent->inter;
  const std::vector<SplitChoice> choices =
      exchange_choices(parent, {high ? 1 : 0, 0, fresh_context()});
  const auto first_size = static_cast<std::size_t>(std::max(inter.here, inter.there));
  const std::span all(choices);
  const bool first_high = high_of(all.first(first_size));
  const bool second_high = high_of(all.subspan(first_size));
  // If both sides give the same value, any order that all know will do.
  const bool second_first = first_high && !second_high;
  const bool local_first = sides_of(*parent).local_first() != second_first;
  const core::Group group =
      local_first ? inter.local.unite(parent->group) : parent->group.unite(inter.local);
  const auto make = [&](MPI_Comm* made) {
    MPI_Comm part = MPI_COMM_NULL;
    {
      const Inside inside;
      const NativeCreation creation;
      const int place = parent->rank + (local_first ? 0 : parent->size);
      const int code = parked(native.Comm_split, parent->native, 0, place, &part);
      if (code != MPI_SUCCESS) return code;
    }
    return finish_comm(group, choices.front().context, part, nullptr, parent->session, made);
  };
  return make_together(
      make, [&](bool mine) { return all_succeeded(parent, choices.front().context, mine); },
      result);
}

}  // namespace

ISTHMUS_MPI(Intercomm_merge)(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  const GridCommRef parent = spanning(intercomm);
  if (!parent) return settled(parked(native.Intercomm_merge, intercomm, high, newintracomm));
  return shielded(intercomm, "MPI_Intercomm_merge", [&] {
    if (!parent->inter) {
      throw MpiError(MPI_ERR_COMM, "the communicator is not an intercommunicator");
    }
    return merge(parent, high != 0, newintracomm);
  });
}

}  // namespace isthmus::face
