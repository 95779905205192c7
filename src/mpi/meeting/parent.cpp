// MPI_Comm_get_parent: a spawned process connects to its parents in MPI_Init, which calls this
// first.
#include <memory>

#include "coll/engine/party.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/survival.hpp"
#include "mpi/making/lifetime.hpp"
#include "mpi/meeting/port.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/face.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

struct Parent {
  bool connected = false;
  MPI_Comm handle = MPI_COMM_NULL;
  std::weak_ptr<GridComm> comm;
};

/// Null once the program has freed or disconnected it.
MPI_Comm of(const Parent& parent) {
  const GridCommRef alive = parent.comm.lock();
  return alive && find_comm(parent.handle) == alive.get() ? parent.handle : MPI_COMM_NULL;
}

}  // namespace

// coverage: also where the parents are in other clusters
ISTHMUS_MPI(Comm_get_parent)(MPI_Comm* parent) {
  const char* const port = native_call() ? nullptr : setting("ISTHMUS_PARENT");
  if (port == nullptr || *port == 0 || parent == nullptr) return native.Comm_get_parent(parent);
  static Parent& known = *new Parent;  // outlives static objects that call MPI
  return shielded(MPI_COMM_NULL, "MPI_Comm_get_parent", [&] {
    int code = MPI_SUCCESS;
    if (!known.connected) {
      known.connected = true;
      try {
        code = meet_at_port(
            At::Connect, [port] { return PortCall{port}; }, 0, MPI_COMM_WORLD, &known.handle);
      } catch (const MpiError& failure) {
        if (!may_lose()) throw;
        end_without_parents(failure.what());
      }
      if (code == MPI_SUCCESS) known.comm = share_comm(known.handle);
    }
    *parent = of(known);
    return code;
  });
}

}  // namespace isthmus::face
