#include "mpi/request/waits.hpp"

#include <array>
#include <chrono>
#include <list>

#include "core/base/mutex.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/native/entry.hpp"

namespace isthmus::face {

namespace {

using Clock = std::chrono::steady_clock;

struct Entry {
  const KnownWait* of;
  Waited waited;
  Clock::time_point since;
};
struct Board {
  core::Mutex mutex;
  std::list<Entry> entries GUARDED_BY(mutex);
};
Board& board() {
  static Board& one = *new Board;  // outlives static objects that call MPI
  return one;
}

std::string comm_name(MPI_Comm comm) {
  const Inside inside;
  std::array<char, MPI_MAX_OBJECT_NAME + 1> text{};
  int length = 0;
  native.Comm_get_name(comm, text.data(), &length);
  return text.data();
}

}  // namespace

KnownWait::KnownWait(const WaitingFor& wait) {
  Entry entry{this, {}, Clock::now()};
  entry.waited.wait = wait;
  if (const GridComm* const comm = wait.comm == MPI_COMM_NULL ? nullptr : find_comm(wait.comm)) {
    entry.waited.comm_size = comm->size;
    entry.waited.context = comm->context;
    entry.waited.comm_name = comm_name(wait.comm);
  }
  const core::Lock lock(board().mutex);
  board().entries.push_back(std::move(entry));
}

KnownWait::~KnownWait() {
  const core::Lock lock(board().mutex);
  board().entries.remove_if([this](const Entry& entry) { return entry.of == this; });
}

std::vector<Waited> known_waits() {
  const core::Lock lock(board().mutex);
  std::vector<Waited> all;
  for (const Entry& entry : board().entries) {
    all.push_back(entry.waited);
    all.back().seconds = std::chrono::duration<double>(Clock::now() - entry.since).count();
  }
  return all;
}

}  // namespace isthmus::face
