#include "mpi/request/native_progress.hpp"

#include <stdexcept>
#include <string_view>

#include "mpi/native/face.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/native_yield.hpp"
#include "mpi/request/progress_helper.hpp"
#include "mpi/request/progress_hook.hpp"

namespace isthmus::face {

constinit Outstanding outstanding;
constinit thread_local int attending __attribute__((tls_model("initial-exec"))) = 0;

namespace {

std::atomic<ProgressBy> progress_by{ProgressBy::None};  // from joining to MPI_Finalize

}  // namespace

// MPICH advances nothing at a probe of a communicator of one process (4.0 and 5.0; 2026-11). So a
// rank that waited for the grid alone would delay its cluster's rendezvous messages.
void move_native_on() {
  const Grid& g = *grid();
  const bool company = g.shadow->comm != MPI_COMM_NULL;
  int found = 0;  // the message stays in place
  native.Iprobe(company ? g.node - g.first : 0, 0, company ? g.shadow->comm : g.self, &found,
                MPI_STATUS_IGNORE);
}

ProgressBy choose_progress(bool multiple) {
  const char* const said = setting("ISTHMUS_PROGRESS");
  const std::string_view wanted = said == nullptr ? "" : said;
  if (wanted == "none") return ProgressBy::None;
  if (wanted == "thread") return ProgressBy::Thread;
  const bool hook = progress_hook::available(multiple);
  if (wanted == "hook" && !hook) {
    throw std::invalid_argument(
        "ISTHMUS_PROGRESS is 'hook', but this native MPI library has none that can be used" +
        std::string(multiple ? " at MPI_THREAD_MULTIPLE" : "") + ": use 'thread' or leave it out");
  }
  if (!wanted.empty() && wanted != "hook") {
    throw std::invalid_argument("ISTHMUS_PROGRESS is '" + std::string(wanted) +
                                "': it can be 'hook', 'thread' or 'none', or left out");
  }
  return hook ? ProgressBy::Hook : ProgressBy::Thread;
}

void start_native_progress(ProgressBy by, bool multiple) {
  native_yield::learn();
  progress_by.store(by);
  if (by == ProgressBy::Thread) progress_helper::start(multiple);
}

void stop_native_progress() {
  const ProgressBy by = progress_by.exchange(ProgressBy::None);
  if (by == ProgressBy::Thread) progress_helper::stop();
  if (by == ProgressBy::Hook) progress_hook::end();
}

void Outstanding::first() {
  const ProgressBy by = progress_by.load(std::memory_order_relaxed);
  if (by == ProgressBy::Hook) progress_hook::add();
  if (by == ProgressBy::Thread) progress_helper::needed();
}

namespace {
std::atomic<int> parked_threads{0};
}
int threads_parked() { return parked_threads.load(std::memory_order_relaxed); }

Parked::Parked() {
  parked_threads.fetch_add(1, std::memory_order_relaxed);
  progress_helper::parked();
}
Parked::~Parked() {
  progress_helper::unparked();
  parked_threads.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace isthmus::face
