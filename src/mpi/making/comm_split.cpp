// MPI_Comm_split and MPI_Comm_split_type. Members exchange their choices; each cluster splits
// natively in the order of the whole.
#include "mpi/making/comm_split.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/intercomm_split.hpp"
#include "mpi/making/making.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/outcome.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

/// The members of one side of a split, ranks of the parent, in the order of the result.
std::vector<int> side_of(const std::vector<SplitChoice>& choices, int colour) {
  std::vector<int> side;
  for (std::size_t rank = 0; rank < choices.size(); ++rank) {
    if (choices[rank].colour == colour) side.push_back(static_cast<int>(rank));
  }
  std::stable_sort(side.begin(), side.end(), [&](int a, int b) {
    return choices[static_cast<std::size_t>(a)].key < choices[static_cast<std::size_t>(b)].key;
  });
  return side;
}

}  // namespace

int split(const GridCommRef& parent, int colour, int key, const TopologyRef& topology,
          MPI_Comm* result) {
  const bool taking_part = colour != MPI_UNDEFINED;
  const std::vector<SplitChoice> choices =
      exchange_choices(parent, {colour, key, taking_part || may_lose() ? fresh_context() : 0});
  std::vector<int> side;
  int place = 0;
  if (taking_part) {
    side = side_of(choices, colour);
    place = static_cast<int>(std::find(side.begin(), side.end(), parent->rank) - side.begin());
  }
  const auto make = [&](MPI_Comm* made) {
    MPI_Comm native_part = MPI_COMM_NULL;
    {
      const Inside inside;
      const NativeCreation creation;
      const int code = parked(native.Comm_split, parent->native, colour, place, &native_part);
      if (code != MPI_SUCCESS || !taking_part) return code;
    }
    const std::uint64_t context = choices[static_cast<std::size_t>(side.front())].context;
    return finish_comm(parent->group.include(side), context, native_part, topology, parent->session,
                       made);
  };
  return make_together(
      make, [&](bool mine) { return all_succeeded(parent, choices.front().context, mine); },
      result);
}

ISTHMUS_MPI(Comm_split)(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  const GridCommRef parent = spanning(comm);
  if (!parent) return settled(parked(native.Comm_split, comm, color, key, newcomm));
  return shielded(comm, "MPI_Comm_split", [&] {
    if (color < 0 && color != MPI_UNDEFINED) {
      throw MpiError(MPI_ERR_ARG,
                     "color " + std::to_string(color) + " is negative and not MPI_UNDEFINED");
    }
    if (parent->inter) return split_intercomm(parent, color, key, newcomm);
    return split(parent, color, key, nullptr, newcomm);
  });
}

}  // namespace isthmus::face
