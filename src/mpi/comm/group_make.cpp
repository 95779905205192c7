// MPI-4.1 sections 7.3.2 and 7.3.3: making groups of groups, and freeing them. If all the inputs
// are of this cluster, so is the result, and the native library makes it.
#include <span>
#include <string>
#include <vector>

#include "coll/engine/party.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/session.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

template <class Combine>
int combine(const char* function, MPI_Group group1, MPI_Group group2, MPI_Group* result,
            Combine&& how) {
  return shielded(MPI_COMM_NULL, function, [&] {
    const SessionRef first = session_of_group(group1);
    return make_group(how(group_of(group1), group_of(group2)),
                      first ? first : session_of_group(group2), result);
  });
}

/// A group that the native library makes of another has the same session.
int derived(int code, MPI_Group from, const MPI_Group* made) {
  if (code == MPI_SUCCESS && !inner_call()) set_session_of_group(*made, session_of_group(from));
  return code;
}
int derived(int code, MPI_Group first, MPI_Group second, const MPI_Group* made) {
  return derived(code, session_of_group(first) ? first : second, made);
}

/// The ranks named, once they are known to be in the group and distinct.
std::span<const int> checked(const core::Group& group, std::span<const int> ranks) {
  std::vector<bool> seen(static_cast<std::size_t>(group.size()));
  for (const int rank : ranks) {
    if (rank < 0 || rank >= group.size()) {
      throw MpiError(MPI_ERR_RANK, "rank " + std::to_string(rank) +
                                       " is not in the group, which has " +
                                       std::to_string(group.size()) + " ranks");
    }
    if (seen[static_cast<std::size_t>(rank)]) {
      throw MpiError(MPI_ERR_RANK, "rank " + std::to_string(rank) + " is named twice");
    }
    seen[static_cast<std::size_t>(rank)] = true;
  }
  return ranks;
}

std::span<const int> list(int n, const int ranks[]) {
  if (n < 0) {
    throw MpiError(MPI_ERR_ARG, "the number of ranks, " + std::to_string(n) + ", is negative");
  }
  return {ranks, static_cast<std::size_t>(n)};
}

std::vector<int> expanded(const core::Group& group, int n, const int ranges[][3]) {
  if (n < 0) {
    throw MpiError(MPI_ERR_ARG, "the number of ranges, " + std::to_string(n) + ", is negative");
  }
  std::vector<core::Group::Range> list;
  for (int i = 0; i < n; ++i) {
    // Before they are expanded: a bad range may name billions.
    for (const int end : {ranges[i][0], ranges[i][1]}) {
      if (end < 0 || end >= group.size()) {
        throw MpiError(MPI_ERR_RANK, "range " + std::to_string(i) + " names rank " +
                                         std::to_string(end) + ", but the group has " +
                                         std::to_string(group.size()) + " ranks");
      }
    }
    list.push_back({ranges[i][0], ranges[i][1], ranges[i][2]});
  }
  return core::Group::expand(list);
}

}  // namespace

ISTHMUS_MPI(Group_union)(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  if (native_pair(group1, group2)) {
    return derived(native.Group_union(group1, group2, newgroup), group1, group2, newgroup);
  }
  return combine("MPI_Group_union", group1, group2, newgroup,
                 [](const core::Group& a, const core::Group& b) { return a.unite(b); });
}

ISTHMUS_MPI(Group_intersection)(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  if (native_pair(group1, group2)) {
    return derived(native.Group_intersection(group1, group2, newgroup), group1, group2, newgroup);
  }
  return combine("MPI_Group_intersection", group1, group2, newgroup,
                 [](const core::Group& a, const core::Group& b) { return a.intersect(b); });
}

ISTHMUS_MPI(Group_difference)(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  if (native_pair(group1, group2)) {
    return derived(native.Group_difference(group1, group2, newgroup), group1, group2, newgroup);
  }
  return combine("MPI_Group_difference", group1, group2, newgroup,
                 [](const core::Group& a, const core::Group& b) { return a.subtract(b); });
}

ISTHMUS_MPI(Group_incl)(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  if (inner_call() || !is_grid_group(group)) {
    return derived(native.Group_incl(group, n, ranks, newgroup), group, newgroup);
  }
  return shielded(MPI_COMM_NULL, "MPI_Group_incl", [&] {
    const core::Group all = group_of(group);
    return make_group(all.include(checked(all, list(n, ranks))), session_of_group(group), newgroup);
  });
}

ISTHMUS_MPI(Group_excl)(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  if (inner_call() || !is_grid_group(group)) {
    return derived(native.Group_excl(group, n, ranks, newgroup), group, newgroup);
  }
  return shielded(MPI_COMM_NULL, "MPI_Group_excl", [&] {
    const core::Group all = group_of(group);
    return make_group(all.exclude(checked(all, list(n, ranks))), session_of_group(group), newgroup);
  });
}

ISTHMUS_MPI(Group_range_incl)(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  if (inner_call() || !is_grid_group(group)) {
    return derived(native.Group_range_incl(group, n, ranges, newgroup), group, newgroup);
  }
  return shielded(MPI_COMM_NULL, "MPI_Group_range_incl", [&] {
    const core::Group all = group_of(group);
    return make_group(all.include(checked(all, expanded(all, n, ranges))), session_of_group(group),
                      newgroup);
  });
}

ISTHMUS_MPI(Group_range_excl)(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  if (inner_call() || !is_grid_group(group)) {
    return derived(native.Group_range_excl(group, n, ranges, newgroup), group, newgroup);
  }
  return shielded(MPI_COMM_NULL, "MPI_Group_range_excl", [&] {
    const core::Group all = group_of(group);
    return make_group(all.exclude(checked(all, expanded(all, n, ranges))), session_of_group(group),
                      newgroup);
  });
}

ISTHMUS_MPI(Group_free)(MPI_Group* group) {
  if (!inner_call() && group != nullptr) {
    if (is_grid_group(*group)) unregister_group(*group);
    forget_group(*group);
  }
  return native.Group_free(group);
}

}  // namespace isthmus::face
