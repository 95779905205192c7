#include "sides.hpp"

#include <algorithm>

namespace storm {

namespace {

std::vector<int> ranks_in(MPI_Group group, MPI_Comm of) {
  MPI_Group all;
  MPI_Comm_group(of, &all);
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> from(static_cast<std::size_t>(size)), to(from.size());
  for (int i = 0; i < size; ++i) from[static_cast<std::size_t>(i)] = i;
  MPI_Group_translate_ranks(group, size, from.data(), all, to.data());
  MPI_Group_free(&all);
  return to;
}

void expect_members(const Step& step, MPI_Group group, const std::vector<int>& should,
                    const char* what) {
  const std::vector<int> got = ranks_in(group, step.comm);
  step.expect_equal(static_cast<long long>(got.size()), static_cast<long long>(should.size()),
                    what);
  for (std::size_t i = 0; i < got.size(); ++i) step.expect_equal(got[i], should[i], what);
}

void check(const Step& step, const Sides& sides) {
  if (sides.inter == MPI_COMM_NULL) return;
  int inter = 0, rank = -1, size = 0, remote = 0;
  MPI_Comm_test_inter(sides.inter, &inter);
  MPI_Comm_rank(sides.inter, &rank);
  MPI_Comm_size(sides.inter, &size);
  MPI_Comm_remote_size(sides.inter, &remote);
  step.expect_equal(inter, 1, "MPI_Comm_test_inter");
  step.expect_equal(size, sides.size(), "the size of this side");
  step.expect_equal(remote, sides.remote_size(), "the size of the other side");
  step.expect_equal(sides.mine()[static_cast<std::size_t>(rank)], step.rank,
                    "the rank on this side");
  MPI_Group here, there;
  MPI_Comm_group(sides.inter, &here);
  MPI_Comm_remote_group(sides.inter, &there);
  expect_members(step, here, sides.mine(), "a member of this side");
  expect_members(step, there, sides.theirs(), "a member of the other side");
  MPI_Group_free(&here);
  MPI_Group_free(&there);
}

MPI_Group group_of(const Step& step, const std::vector<int>& ranks) {
  MPI_Group all, some;
  MPI_Comm_group(step.comm, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

bool is_in(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// Parts of the two sides. One that would leave a side without members is not made.
void part(Step& step, Sides& sides) {
  std::vector<int> some[2];
  for (int side = 0; side < 2; ++side) {
    for (const int rank : sides.members[side]) {
      if (step.random.chance(75)) some[side].push_back(rank);
    }
    if (some[side].empty()) some[side].push_back(sides.members[side][0]);
    step.random.shuffle(some[side]);
  }
  if (sides.inter != MPI_COMM_NULL) {
    MPI_Group group = group_of(step, some[sides.side]);
    MPI_Comm made;
    MPI_Comm_create(sides.inter, group, &made);
    MPI_Group_free(&group);
    MPI_Comm_free(&sides.inter);
    sides.inter = made;
    const bool member = is_in(some[sides.side], step.rank);
    step.expect_equal(made != MPI_COMM_NULL, member, "whether a member of a part has it");
  }
  for (int side = 0; side < 2; ++side) sides.members[side] = some[side];
}

// Both sides divide by a color. A color on one side alone makes no communicator.
void divide(Step& step, Sides& sides) {
  std::vector<int> colors, keys;
  for (int i = 0; i < step.size; ++i) {
    colors.push_back(step.random.below(2));
    keys.push_back(step.random.below(4));
  }
  if (sides.inter == MPI_COMM_NULL) return;
  const auto me = static_cast<std::size_t>(step.rank);
  MPI_Comm made;
  MPI_Comm_split(sides.inter, colors[me], keys[me], &made);
  MPI_Comm_free(&sides.inter);
  sides.inter = made;
  for (auto& members : sides.members) {
    std::vector<int> kept;
    for (const int rank : members) {
      if (colors[static_cast<std::size_t>(rank)] == colors[me]) kept.push_back(rank);
    }
    std::stable_sort(kept.begin(), kept.end(), [&](int a, int b) {
      return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
    });
    members = kept;
  }
  const bool should = !sides.mine().empty() && !sides.theirs().empty();
  step.expect_equal(made != MPI_COMM_NULL, should, "whether a divided side has a communicator");
}

void duplicate(Step& step, Sides& sides) {
  const bool later = step.random.chance(50);
  if (sides.inter == MPI_COMM_NULL) return;
  MPI_Comm made;
  MPI_Request request = MPI_REQUEST_NULL;
  if (later) {
    MPI_Comm_idup(sides.inter, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Comm_dup(sides.inter, &made);
  }
  MPI_Comm_free(&sides.inter);
  sides.inter = made;
}

}  // namespace

Sides make_sides(Step& step) {
  Sides sides;
  std::vector<int> where(static_cast<std::size_t>(step.size));
  for (int& side : where) side = step.random.chance(10) ? 2 : step.random.below(2);
  const int first = step.random.below(step.size);
  const int second = (first + step.random.between(1, step.size - 1)) % step.size;
  where[static_cast<std::size_t>(first)] = 0;
  where[static_cast<std::size_t>(second)] = 1;
  std::vector<int> order;
  for (int i = 0; i < step.size; ++i) order.push_back(i);
  const bool shuffled = step.random.chance(50);
  if (shuffled) step.random.shuffle(order);
  for (const int rank : order) {
    const int side = where[static_cast<std::size_t>(rank)];
    if (side < 2) sides.members[side].push_back(rank);
  }
  const int leaders[2] = {step.random.below(static_cast<int>(sides.members[0].size())),
                          step.random.below(static_cast<int>(sides.members[1].size()))};
  const int side = where[static_cast<std::size_t>(step.rank)];
  sides.side = side == 1;
#if MPI_VERSION >= 4
  const bool groups = step.random.chance(30) && options.version >= 4;
#else
  step.random.chance(30);
  const bool groups = false;
#endif
  if (groups && side < 2) {
#if MPI_VERSION >= 4
    MPI_Group here = group_of(step, sides.mine()), there = group_of(step, sides.theirs());
    const std::string name =
        text("storm %d %llu", step.number, static_cast<unsigned long long>(step.party.seed));
    MPI_Intercomm_create_from_groups(here, leaders[sides.side], there, leaders[1 - sides.side],
                                     name.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
                                     &sides.inter);
    MPI_Group_free(&here);
    MPI_Group_free(&there);
#endif
  } else if (!groups) {
    const auto place = std::find(order.begin(), order.end(), step.rank) - order.begin();
    MPI_Comm local;
    MPI_Comm_split(step.comm, side < 2 ? side : MPI_UNDEFINED, static_cast<int>(place), &local);
    if (side < 2) {
      MPI_Intercomm_create(local, leaders[side], step.comm,
                           sides.theirs()[static_cast<std::size_t>(leaders[1 - side])],
                           step.tag(15), &sides.inter);
      MPI_Comm_free(&local);
    }
  }
  check(step, sides);
  for (int i = step.random.below(3); i > 0; --i) {
    const int way = step.random.below(3);
    if (way == 0) duplicate(step, sides);
    if (way == 1) part(step, sides);
    if (way == 2) divide(step, sides);
    if (way == 2) i = 1;  // processes of different colors know different sides
    check(step, sides);
  }
  return sides;
}

}  // namespace storm
