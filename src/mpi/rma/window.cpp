#include "mpi/rma/window.hpp"

#include <string>
#include <unordered_map>

#include "coll/engine/party.hpp"
#include "mpi/comm/comm_table.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

// Never destroyed: MPI may be called from static destructors.
struct Windows {
  core::Mutex mutex;
  std::unordered_map<std::uintptr_t, GridWindowRef> all GUARDED_BY(mutex);
  CommTable table;  // shows without a lock that a handle is native
};
Windows& windows() {
  static Windows& found = *new Windows;
  return found;
}

std::string name_of_window(MPI_Win window) {
  char text[MPI_MAX_OBJECT_NAME + 1] = "";
  int length = 0;
  native.Win_get_name(window, text, &length);
  return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : "(without a name)";
}

}  // namespace

GridWindow::~GridWindow() {
  if (part == nullptr || grid() == nullptr) return;
  grid()->endpoint->locked([this](core::Engine&) { part.reset(); });
}

void* GridWindow::attribute(int keyval) {
  const Exposed& mine = exposed[static_cast<std::size_t>(comm->rank)];
  size_ = static_cast<MPI_Aint>(mine.size);
  disp_unit_ = static_cast<int>(mine.disp_unit);
  if (keyval == MPI_WIN_BASE) return base;
  if (keyval == MPI_WIN_SIZE) return &size_;
  if (keyval == MPI_WIN_DISP_UNIT) return &disp_unit_;
  if (keyval == MPI_WIN_CREATE_FLAVOR) return &flavour;
  if (keyval == MPI_WIN_MODEL) return &model_;
  return nullptr;
}

GridWindowRef grid_window(MPI_Win handle) {
  if (native_call()) return nullptr;
  if (windows().table.find(key(handle)) == nullptr) return nullptr;
  const core::Lock lock(windows().mutex);
  const auto found = windows().all.find(key(handle));
  return found == windows().all.end() ? nullptr : found->second;
}

GridWindow* find_window(MPI_Win handle) {
  if (native_call()) return nullptr;
  return static_cast<GridWindow*>(windows().table.find(key(handle)));
}

void enter_window(const GridWindowRef& window) {
  const core::Lock lock(windows().mutex);
  windows().all[key(window->native)] = window;
  windows().table.insert(key(window->native), window.get());
}

void remove_window(MPI_Win handle) {
  const core::Lock lock(windows().mutex);
  windows().table.erase(key(handle));
  windows().all.erase(key(handle));
}

int raise_on(MPI_Win window, int code, const char* function) {
  if (code == MPI_SUCCESS) return code;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  Handling handling = Handling::ByProgram;
  {
    const Inside inside;
    native.Win_get_errhandler(window, &handler);
    handling = handling_of(handler);
    if (handler != MPI_ERRHANDLER_NULL) native.Errhandler_free(&handler);
  }
  if (handling == Handling::Returns) return code;
  if (handling == Handling::Fatal) die("window " + name_of_window(window), code, function);
  const Outside outside;  // the handler is the program's own
  native.Win_call_errhandler(window, code);
  return code;
}

// coverage: a fatal handler ends the whole grid
ISTHMUS_MPI(Win_call_errhandler)(MPI_Win win, int errorcode) {
  if (!grid_window(win)) return native.Win_call_errhandler(win, errorcode);
  raise_on(win, errorcode, "MPI_Win_call_errhandler");
  return MPI_SUCCESS;
}

bool is_far(const GridWindow& window, int rank) {
  return grid()->world().cluster_of(window.comm->group.node(rank)) != grid()->cluster;
}

void check_alive(const GridWindow& window, const std::vector<int>& ranks) {
  if (!may_lose()) return;
  for (const int rank : ranks) {
    if (const auto loss = loss_of(*window.comm, rank)) {
      throw MpiError(loss->error_class, loss->because);
    }
  }
}

void check_rank(const GridWindow& window, int rank) {
  require(rank >= 0 && rank < window.comm->size, MPI_ERR_RANK,
          "the target is not a rank of the window");
}

}  // namespace isthmus::face
