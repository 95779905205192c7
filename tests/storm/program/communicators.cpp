// Communicators made in every way; steps are played on them before they are freed.
#include "kinds.hpp"

namespace storm {

namespace {

MPI_Comm create_of_some(Step& step, bool group_alone) {
  std::vector<int> members;
  for (int i = 0; i < step.size; ++i) {
    if (step.random.chance(60)) members.push_back(i);
  }
  if (members.empty()) members.push_back(step.random.below(step.size));
  step.random.shuffle(members);
  MPI_Group all, some;
  MPI_Comm_group(step.comm, &all);
  MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some);
  int rank = MPI_UNDEFINED;
  MPI_Group_rank(some, &rank);
  MPI_Comm made = MPI_COMM_NULL;
  if (!group_alone) MPI_Comm_create(step.comm, some, &made);
  if (group_alone && rank != MPI_UNDEFINED)
    MPI_Comm_create_group(step.comm, some, step.tag(), &made);
  if (made != MPI_COMM_NULL) {
    int place = -1;
    MPI_Comm_rank(made, &place);
    step.expect_equal(place, rank, "the rank in a communicator of a group");
  }
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

MPI_Comm make(Step& step) {
  MPI_Comm made = MPI_COMM_NULL;
  std::vector<int> colors, keys;
  for (int i = 0; i < step.size; ++i) {
    colors.push_back(step.random.chance(10) ? MPI_UNDEFINED : step.random.below(2));
    keys.push_back(step.random.below(5));
  }
  const auto me = static_cast<std::size_t>(step.rank);
  switch (step.random.below(6)) {
    case 0:
      MPI_Comm_dup(step.comm, &made);
      return made;
    case 1: {
      MPI_Request request;
      MPI_Comm_idup(step.comm, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      return made;
    }
    case 2:
      return create_of_some(step, false);
    case 3:
      return create_of_some(step, true);
    case 4:
      MPI_Comm_split_type(step.comm, MPI_COMM_TYPE_SHARED, keys[me], MPI_INFO_NULL, &made);
      return made;
    default:
      MPI_Comm_split(step.comm, colors[me], keys[me], &made);
      return made;
  }
}

}  // namespace

void communicators(Step& step) {
  const int steps = step.random.between(1, 4);
  MPI_Comm made = make(step);
  if (made == MPI_COMM_NULL) return;
  Party party(made, step.key(1), false);
  party.depth = step.party.depth + 1;
  for (int i = 0; i < steps; ++i) play(party, i);
  // A communicator may be freed while operations on it are under way.
  const bool early = step.own.chance(40);
  if (!early) settle(party, step.own);
  MPI_Comm_free(&made);
  settle(party, step.own);
}

}  // namespace storm
