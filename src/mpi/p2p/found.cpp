#include "mpi/p2p/found.hpp"

#include <mutex>

#include "coll/engine/party.hpp"
#include "mpi/native/thread_level.hpp"
#include "mpi/native/wildcards.hpp"
#include "mpi/p2p/held.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/survival_errors.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {
namespace {

Found from_engine(const core::Envelope& envelope) {
  Found found;
  found.found = true;
  fill_status({.source = envelope.source, .tag = envelope.tag, .bytes = envelope.size},
              &found.status);
  return found;
}

Found look_far(const GridComm& g, int source, int tag, Take take) {
  if (take == Take::No) {
    const auto envelope =
        grid()->endpoint->probe(g.context, engine_source(source), engine_tag(tag));
    return envelope ? from_engine(*envelope) : Found{};
  }
  auto message = grid()->endpoint->extract(g.context, engine_source(source), engine_tag(tag));
  if (!message) return {};
  Found found = from_engine(core::Engine::envelope(*message));
  found.distant = std::move(message);
  return found;
}

Found look_near(GridComm& g, int source, int tag, Take take, int* code) {
  const int local = source == MPI_ANY_SOURCE ? MPI_ANY_SOURCE : g.native_rank_of(source);
  std::unique_lock lock(progress_mutex, std::defer_lock);
  // Another thread may begin to hold receives at any time.
  if (threads_multiple() || !idle()) lock.lock();
  Found found;
  int flag = 0;
  for (;;) {
    *code = native.Iprobe(local, tag, g.native, &flag, &found.status);
    if (*code != MPI_SUCCESS || flag == 0) return {};
    // A probe does not find a message that a held receive would take. Serving takes the message
    // away, so this ends.
    const int from = g.rank_of_native(found.status.MPI_SOURCE);
    if (!g.held || !g.held->overlaps(from, found.status.MPI_TAG)) break;
    g.held->serve();
  }
  if (take == Take::Yes) {
    *code = native.Improbe(found.status.MPI_SOURCE, found.status.MPI_TAG, g.native, &flag,
                           &found.message, &found.status);
    if (*code != MPI_SUCCESS || flag == 0) return {};
  }
  translate(g, &found.status);
  found.found = true;
  return found;
}

Found look_anywhere(GridComm& g, int tag, Take take, int* code) {
  constexpr int kAny = MPI_ANY_SOURCE;
  // Alternate, so that neither side starves the other.
  static std::atomic<unsigned> turn{0};
  const bool far_first = turn.fetch_add(1, std::memory_order_relaxed) % 2 == 0;
  Found found = far_first ? look_far(g, kAny, tag, take) : look_near(g, kAny, tag, take, code);
  if (found.found || *code != MPI_SUCCESS) return found;
  return far_first ? look_near(g, kAny, tag, take, code) : look_far(g, kAny, tag, take);
}

}  // namespace

int check_probe(const GridComm& g, int source, int tag, const char* function) {
  require_unrevoked(g);
  const int code = check_rank(g, source, true, function);
  if (code != MPI_SUCCESS) return code;
  int flag = 0;  // the native library judges the tag
  return native.Iprobe(MPI_PROC_NULL, tag, g.native, &flag, MPI_STATUS_IGNORE);
}

ProbeLoss::ProbeLoss(const GridComm& g, int source, bool waits) : loss_(Watched(g, source).loss()) {
  if (loss_ && waits && loss_->error_class == proc_failed_pending()) {
    loss_->error_class = proc_failed();
  }
}

void ProbeLoss::unless(bool found) const {
  if (loss_ && !found) throw MpiError(loss_->error_class, loss_->because);
}

Found look(GridComm& g, int source, int tag, Take take, int* code) {
  *code = MPI_SUCCESS;
  pump();
  const auto look_at = [&](int rank) {
    return g.native_rank_of(rank) >= 0 ? look_near(g, rank, tag, take, code)
                                       : look_far(g, rank, tag, take);
  };
  if (source != MPI_ANY_SOURCE) {
    Found found = look_at(source);
    if (found.found && take == Take::Yes) g.probed.forget(source, engine_tag(tag));
    return found;
  }
  if (const auto last = g.probed.source_for(engine_tag(tag))) {
    Found found = look_at(*last);
    if (found.found && take == Take::Yes) g.probed.forget(*last, engine_tag(tag));
    if (found.found || *code != MPI_SUCCESS) return found;
    g.probed.forget(*last, engine_tag(tag));
  }
  Found found = look_anywhere(g, tag, take, code);
  if (found.found && take == Take::No) g.probed.remember(found.status.MPI_SOURCE, engine_tag(tag));
  return found;
}

}  // namespace isthmus::face
