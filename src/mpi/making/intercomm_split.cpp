#include "mpi/making/intercomm_split.hpp"

#include <algorithm>
#include <vector>

#include "mpi/making/agreement.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/intercomm.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/outcome.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

/// The members with a colour among `size` from rank `first` of the whole on, in the order of the
/// result, as ranks of their side.
std::vector<int> side_of(const std::vector<SplitChoice>& choices, int first, int size, int colour) {
  const auto choice = [&](int rank) -> const SplitChoice& {
    return choices[static_cast<std::size_t>(first) + static_cast<std::size_t>(rank)];
  };
  std::vector<int> side;
  for (int rank = 0; rank < size; ++rank) {
    if (choice(rank).colour == colour) side.push_back(rank);
  }
  std::stable_sort(side.begin(), side.end(),
                   [&](int a, int b) { return choice(a).key < choice(b).key; });
  return side;
}

}  // namespace

int split_intercomm(const GridCommRef& parent, int colour, int key, MPI_Comm* result) {
  const Inter& inter = *parent->inter;
  const std::vector<SplitChoice> choices = exchange_choices(parent, {colour, key, fresh_context()});
  Sides sides;
  if (colour != MPI_UNDEFINED) {
    sides.local = inter.local.include(side_of(choices, inter.here, inter.local_size(), colour));
    sides.remote = parent->group.include(side_of(choices, inter.there, parent->size, colour));
  }
  const bool taking_part = sides.local.size() > 0 && sides.remote.size() > 0;
  const auto make = [&](MPI_Comm* made) {
    MPI_Comm part = MPI_COMM_NULL;
    core::Group whole;
    int place = 0;
    if (taking_part) {
      whole = sides.whole();
      place = whole.rank_of(inter.whole->group.node(inter.whole->rank)).value();
    }
    {
      const Inside inside;
      const NativeCreation creation;
      const int code = parked(native.Comm_split, parent->native,
                              taking_part ? colour : MPI_UNDEFINED, place, &part);
      if (code != MPI_SUCCESS || !taking_part) return code;
    }
    const int first = inter.whole->group.rank_of(whole.node(0)).value();
    return finish_intercomm(sides, choices[static_cast<std::size_t>(first)].context, part,
                            parent->session, made);
  };
  return make_together(
      make, [&](bool mine) { return all_succeeded(parent, choices.front().context, mine); },
      result);
}

}  // namespace isthmus::face
