// Which steps are drawn, and where a rank is in them.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "kinds.hpp"

namespace storm {

const std::vector<Kind> kKinds{
    {"messages", messages, 12},
    {"wildcards", wildcards, 6},
    {"probes", probes, 5},
    {"cancelled", cancelled, 3},
    {"freed", freed, 4},
    {"buffered", buffered, 3, true},
    {"persistent", persistent, 4},
    {"partitioned", partitioned, 2},
    {"exchanges", exchanges, 4},
    {"crowds", crowds, 3},
    {"collectives", collectives, 10},
    {"reductions", reductions, 8},
    {"layouts", layouts, 8},
    {"typed_collectives", typed_collectives, 8},
    {"communicators", communicators, 5, false, true},
    {"intercommunicators", intercommunicators, 5, false, true, true},
    {"topologies", topologies, 5, false, false, true},
    {"files", files, 4, true, false, true},
    {"windows", windows, 12, false, false, true},
    {"sums", sums, 6, false, false, true},
    {"many_gets", many_gets, 1, false, false, true},
    {"spawned", spawned, 1, true, true},
    {"threads", threads, 2, true, true},
};

namespace {

bool suits(const Kind& kind, const Party& party) {
  constexpr int kDeepest = 2;
  if (kind.once && (party.in_threads || party.depth > 0)) return false;
  // A native communicator has the faults of its library. Open MPI 4.1, for one, makes no windows
  // with MPI_THREAD_MULTIPLE.
  if (kind.spans && options.grid && !party.spans) return false;
  if (kind.nests && (party.depth >= kDeepest || party.in_threads)) return false;
  return options.kinds.empty() ||
         std::find(options.kinds.begin(), options.kinds.end(), kind.name) != options.kinds.end();
}

const Kind& draw(const Party& party, Random& random) {
  std::vector<const Kind*> cards;
  for (const Kind& kind : kKinds) {
    if (suits(kind, party)) cards.insert(cards.end(), static_cast<std::size_t>(kind.weight), &kind);
  }
  if (cards.empty()) return kKinds.front();
  return *random.one_of(cards);
}

// One line for each step, in a file of the process: what it was at when it hung or crashed.
void leave_trail(const Step& step) {
  static const int file = [] {
    if (options.trail.empty()) return -1;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::string path = text("%s/rank-%d", options.trail.c_str(), rank);
    return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  }();
  if (file < 0) return;
  const std::string line =
      text("%*sstep %d %s, rank %d of %d%s\n", step.party.depth * 2, "", step.number,
           step.name.c_str(), step.rank, step.size, step.party.in_threads ? ", in a thread" : "");
  if (write(file, line.data(), line.size()) < 0) perror(options.trail.c_str());
}

}  // namespace

void play(Party& party, int number) {
  Random random(mixed(party.seed + mixed(static_cast<std::uint64_t>(number) + 77)));
  const Kind& kind = draw(party, random);
  Step step(party, number, kind.name);
  leave_trail(step);
  step.dawdle();
  if (!party.later.empty() && step.own.chance(30)) settle(party, step.own);
  kind.play(step);
}

}  // namespace storm
