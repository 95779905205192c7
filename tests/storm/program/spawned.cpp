// Processes that are spawned while the program runs. Steps are played together with them.
#include <cstdio>

#include "kinds.hpp"

namespace storm {

namespace {

struct Told {
  std::uint64_t seed;
  std::int64_t steps, version, children_low, frees;
};

// Both sides play on one communicator, until they part.
void play_together(MPI_Comm inter, const Told& told, bool child, Random& own) {
  MPI_Comm both;
  MPI_Intercomm_merge(inter, child != (told.children_low != 0), &both);
  Party party(both, told.seed, false);
  party.depth = 1;
  for (int i = 0; i < told.steps; ++i) play(party, i);
  settle(party, own);
  MPI_Comm_free(&both);
}

// Both sides in the same way, as MPI asks.
void part(MPI_Comm inter, const Told& told) {
  if (told.frees) {
    MPI_Comm_free(&inter);
  } else {
    MPI_Comm_disconnect(&inter);
  }
}

}  // namespace

void spawned(Step& step) {
  const int root = step.random.below(step.size), count = step.random.between(1, 3);
  const bool multiple = step.random.chance(40);
  const Told told{mixed(step.party.seed + static_cast<std::uint64_t>(step.number)),
                  step.random.between(1, 4), options.version, step.random.below(2),
                  step.random.chance(30)};
  std::string seed = text("%llu", static_cast<unsigned long long>(options.seed));
  std::string name = "--parent", number = text("%d", root);
  std::string option = "--kinds", kinds;  // children draw from the same ones
  for (const std::string& kind : options.kinds) kinds += (kinds.empty() ? "" : ",") + kind;
  if (kinds.empty()) option = "--parent", kinds = number;
  char* arguments[] = {seed.data(),   name.data(),  number.data(),
                       option.data(), kinds.data(), nullptr};
  std::vector<int> codes(static_cast<std::size_t>(2 * count), -1);
  MPI_Comm inter;
  if (multiple) {
    char* programs[] = {options.program.data(), options.program.data()};
    char** all[] = {arguments, arguments};
    const int counts[] = {count, 1};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_spawn_multiple(2, programs, all, counts, infos, root, step.comm, &inter, codes.data());
  } else {
    MPI_Comm_spawn(options.program.c_str(), arguments, count, MPI_INFO_NULL, root, step.comm,
                   &inter, codes.data());
  }
  int children = 0;
  MPI_Comm_remote_size(inter, &children);
  step.expect_equal(children, multiple ? count + 1 : count, "the number of children");
  Told sent = told;
  const int as = step.rank == root ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(&sent, sizeof sent, MPI_BYTE, as, inter);
  int sum = -1;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  step.expect_equal(sum, children, "what the children add up to");
  play_together(inter, told, false, step.own);
  part(inter, told);
}

void play_as_child(MPI_Comm parent, int root) {
  Told told{};
  int rank = 0, sum = -1, parents = 0;
  const int one = 1;
  MPI_Comm_rank(parent, &rank);
  MPI_Bcast(&told, sizeof told, MPI_BYTE, root, parent);
  options.version = static_cast<int>(told.version);
  MPI_Comm_remote_size(parent, &parents);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent);
  if (sum != parents) {
    fprintf(stderr, "storm: WRONG the parents of a child add up to %d\n", sum);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  Random own(told.seed + static_cast<std::uint64_t>(rank) + 1000);
  play_together(parent, told, true, own);
  part(parent, told);
}

}  // namespace storm
