#include "mpi/p2p/drain.hpp"

#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <utility>

#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/p2p/operations.hpp"
#include "mpi/process/file_service.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {
namespace {

/// Advances between two looks at the communicators: a send that waits for this can wait longer.
constexpr unsigned kAdvancesPerLook = 64;

class Drain;
Drain* the_drain GUARDED_BY(progress_mutex) = nullptr;  // the one of the grid

class Drain final : public Operation {
 public:
  ~Drain() override {
    const core::Lock lock(progress_mutex);
    if (the_drain == this) the_drain = nullptr;
  }
  /// Never ends before the grid does.
  bool advance() override {
    if (grid() == nullptr) return true;
    lose_failed_services();
    if (++advances_ % kAdvancesPerLook != 0) return false;
    const Inside inside;
    for (const GridCommRef& comm : revoked_comms()) look_at(comm);
    std::erase_if(scraps_, has_come);
    return false;
  }

  void look_at(const GridCommRef& ref) {
    const GridComm& comm = *ref;
    if (comm.survival.drained.load()) return;
    for (;;) {
      int found = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status{};
      const int code =
          native.Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm.native, &found, &message, &status);
      if (code != MPI_SUCCESS || found == 0) return;
      const std::uint64_t size = bytes_of(status);
      Scrap& scrap = scraps_.emplace_back();
      scrap.memory = std::make_unique_for_overwrite<std::byte[]>(size);
      if (status.MPI_TAG == traffic::kParted && size == sizeof comm.context) scrap.may_part = ref;
      receive_matched(scrap.memory.get(), size, &message, &scrap.request);
    }
  }

 private:
  struct Scrap {
    std::unique_ptr<std::byte[]> memory;
    MPI_Request request = MPI_REQUEST_NULL;
    GridCommRef may_part;  ///< it may be the sender's last message there; else null
  };

  static bool has_come(Scrap& scrap) {
    int done = 0;
    const int code = native.Test(&scrap.request, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && done == 0) return false;
    if (code != MPI_SUCCESS || !scrap.may_part) return true;
    std::uint64_t context = 0;
    std::memcpy(&context, scrap.memory.get(), sizeof context);
    if (context == scrap.may_part->context) ++scrap.may_part->survival.parted;
    return true;
  }

  std::list<Scrap> scraps_;
  unsigned advances_ = 0;
};

}  // namespace

void drain_at_the_end() {
  if (!may_lose()) return;
  constexpr unsigned kLooks = 4;
  for (unsigned i = 0; i < kLooks * kAdvancesPerLook; ++i) pump();
}

void drain_revoked() {
  const core::Lock lock(progress_mutex);
  auto begun = std::make_unique<Drain>();
  the_drain = begun.get();
  keep(std::move(begun));
}

void end_drain(const GridCommRef& comm) {
  const core::Lock lock(progress_mutex);
  const Inside inside;
  if (the_drain != nullptr && comm->survival.revoked.load(std::memory_order_acquire)) {
    the_drain->look_at(comm);
  }
  comm->survival.drained.store(true);
}

void resume_drain(const GridComm& comm) { comm.survival.drained.store(false); }

}  // namespace isthmus::face
