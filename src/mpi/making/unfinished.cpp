#include "mpi/making/unfinished.hpp"

#include <list>
#include <memory>

#include "core/base/mutex.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {
namespace {

struct Unfinished {
  Unfinished(MPI_Request request_, MPI_Comm made_) : request(request_), made(made_) {}
  MPI_Request request;
  MPI_Comm made;
  NativeIdup under_way;  // creations reckon with it
};

struct Kept {
  core::Mutex mutex;
  std::list<Unfinished> all GUARDED_BY(mutex);
};
Kept& kept() {
  static Kept& only = *new Kept;  // outlives static objects that call MPI
  return only;
}

class Tidying final : public Operation {
 public:
  /// Never ends before the grid does.
  bool advance() override {
    if (grid() == nullptr) return true;
    const core::Lock lock(kept().mutex);
    if (kept().all.empty()) return false;
    const Inside inside;
    std::erase_if(kept().all, [](Unfinished& each) {
      int done = 0;
      const int code = native.Test(&each.request, &done, MPI_STATUS_IGNORE);
      if (code == MPI_SUCCESS && done == 0) return false;
      if (code == MPI_SUCCESS && each.made != MPI_COMM_NULL) native.Comm_free(&each.made);
      return true;
    });
    return false;
  }
};

}  // namespace

void tidy_unfinished() { keep(std::make_unique<Tidying>()); }

void leave_unfinished(MPI_Request request, MPI_Comm made) {
  const core::Lock lock(kept().mutex);
  kept().all.emplace_back(request, made);
}

}  // namespace isthmus::face
