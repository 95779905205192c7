// The collectives as callers see them: each chooses an algorithm and starts it.
#include "coll/engine/collectives.hpp"

#include "coll/engine/choose.hpp"
#include "coll/engine/portion.hpp"

namespace isthmus::coll {
namespace {

/// Chooses for `problem`; calls the algorithm with the arguments and its parameters.
template <class Run, class... Arguments>
Task start(Party& party, const Problem& problem, Arguments&&... arguments) {
  const Choice choice = choose(party, problem);
  return std::get<Run>(choice.algorithm->run)(party, std::forward<Arguments>(arguments)...,
                                              choice.parameters);
}

int home_of(const Party& party, int root) { return party.layout().cluster_of(root); }

/// The problem of a reduction of `count` elements.
Problem problem_of(const Party& party, Kind kind, const Reduction& reduction, std::size_t count) {
  Problem problem{kind, reduction.packed_size(count), reduction.commutative()};
  problem.reproducible = party.reproducible();
  return problem;
}

/// All blocks together, if every rank knows them.
std::optional<std::size_t> known_total(const Sizes& sizes, Blocks blocks) {
  if (blocks == Blocks::Uneven) return std::nullopt;
  return total(sizes);
}

}  // namespace

Task barrier(Party& party) { return start<RunBarrier>(party, {Kind::Barrier, 0, true}); }

Task bcast(Party& party, Bytes data, int root) {
  return start<RunBcast>(party, {Kind::Bcast, data.size(), true, home_of(party, root)}, data, root);
}

Task gather(Party& party, ConstBytes mine, Bytes all, Sizes sizes, int root, Blocks blocks) {
  const Problem problem{Kind::Gather, known_total(sizes, blocks), true, home_of(party, root)};
  return start<RunGather>(party, problem, mine, all, std::move(sizes), root);
}

Task scatter(Party& party, ConstBytes all, Sizes sizes, Bytes mine, int root, Blocks blocks) {
  const Problem problem{Kind::Scatter, known_total(sizes, blocks), true, home_of(party, root)};
  return start<RunScatter>(party, problem, all, std::move(sizes), mine, root);
}

Task allgather(Party& party, ConstBytes mine, Bytes all, Sizes sizes) {
  return start<RunAllgather>(party, {Kind::Allgather, total(sizes), true}, mine, all,
                             std::move(sizes));
}

Task alltoall(Party& party, ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes,
              Blocks blocks) {
  const Problem problem{Kind::Alltoall, known_total(out_sizes, blocks), true};
  return start<RunAlltoall>(party, problem, out, std::move(out_sizes), in, std::move(in_sizes));
}

Task reduce(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
            int root) {
  Problem problem = problem_of(party, Kind::Reduce, reduction, count);
  problem.home = home_of(party, root);
  return start<RunReduce>(party, problem, in, out, count, reduction, root);
}

Task allreduce(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) {
  return start<RunToAll>(party, problem_of(party, Kind::Allreduce, reduction, count), in, out,
                         count, reduction);
}

Task reduce_scatter(Party& party, ConstBytes in, Bytes out, std::vector<std::size_t> counts,
                    Reduction& reduction) {
  const Problem problem = problem_of(party, Kind::ReduceScatter, reduction, total(counts));
  return start<RunReduceScatter>(party, problem, in, out, std::move(counts), reduction);
}

Task scan(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) {
  return start<RunToAll>(party, problem_of(party, Kind::Scan, reduction, count), in, out, count,
                         reduction);
}

Task exscan(Party& party, ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) {
  return start<RunToAll>(party, problem_of(party, Kind::Exscan, reduction, count), in, out, count,
                         reduction);
}

}  // namespace isthmus::coll
