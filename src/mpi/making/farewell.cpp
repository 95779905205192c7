// Within a run, the members report to its first one that they have left the meeting, and wait for
// its answer: if one of them fails, all end. Only the first ones of the runs notify each other, and
// only that wait ends with the other run.
#include "mpi/making/farewell.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coll/engine/phases.hpp"
#include "coll/engine/task.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

/// Ranks by their run, whose name is empty for this one; ascending.
using Runs = std::map<std::string, std::vector<int>>;

Runs ranks_by_run(const GridComm& comm) {
  const core::World& world = grid()->world();
  Runs runs;
  for (int rank = 0; rank < comm.size; ++rank) {
    runs[world.clusters[world.cluster_of(comm.group.node(rank))].run].push_back(rank);
  }
  return runs;
}

/// Word from another run, or its end.
class WordOrEnd final : public coll::Operation {
 public:
  WordOrEnd(coll::Pending word, std::string run) : word_(std::move(word)), run_(std::move(run)) {}
  bool poll() override { return word_.done() || has_ended(run_); }

 private:
  coll::Pending word_;
  std::string run_;
};

coll::Task part(coll::Party& party, Runs runs) {
  constexpr int kTag = coll::kTagBarrier;
  const std::vector<int> own = std::move(runs.extract("").mapped());
  const int first = own.front();
  std::vector<coll::Pending> pending;
  if (party.rank() != first) {
    pending.push_back(party.send(first, kTag, {}));
    pending.push_back(party.recv(first, kTag, {}));
    for (auto& p : pending) co_await p;
    co_return;
  }
  for (const int rank : own) {
    if (rank != first) pending.push_back(party.recv(rank, kTag, {}));
  }
  for (auto& p : pending) co_await p;
  pending.clear();
  for (const auto& [run, ranks] : runs) {
    pending.push_back(party.send(ranks.front(), kTag, {}));
    coll::Pending word = party.recv(ranks.front(), kTag, {});
    pending.emplace_back(std::make_unique<WordOrEnd>(std::move(word), run));
  }
  for (auto& p : pending) co_await p;
  pending.clear();
  for (const int rank : own) {
    if (rank != first) pending.push_back(party.send(rank, kTag, {}));
  }
  for (auto& p : pending) co_await p;
}

}  // namespace

void bid_farewell(const GridCommRef& comm) {
  comm->disconnecting.store(true, std::memory_order_release);
  const Runs runs = ranks_by_run(*everyone(comm));
  agree(comm, [&runs](coll::Party& party) { return part(party, runs); });
}

}  // namespace isthmus::face
