// MPI-4.1 section 4.2: partitioned communication. The native library handles peers in this cluster,
// if nothing need end its messages early; partitioned.hpp has the rest.
#include "mpi/p2p/partitioned.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "mpi/comm/survival.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/grid_request.hpp"
#include "mpi/request/tracked.hpp"

namespace isthmus::face {

Partitions::Partitions(void* buffer_, int number_, MPI_Count count_, MPI_Datatype type_)
    : buffer(static_cast<std::byte*>(buffer_)), number(number_), count(count_), type(type_) {
  if (number < 0) {
    throw MpiError(MPI_ERR_ARG, "the number of partitions is " + std::to_string(number));
  }
  if (count < 0) throw MpiError(MPI_ERR_COUNT, "the count is " + std::to_string(count));
  MPI_Count lower = 0;
  native.Type_get_extent_x(type_, &lower, &extent);
}

void Partitions::check(int partition) const {
  if (partition >= 0 && partition < number) return;
  throw MpiError(MPI_ERR_ARG, "partition " + std::to_string(partition) + " is not in 0.." +
                                  std::to_string(number - 1));
}

#ifdef ISTHMUS_HAS_Psend_init
namespace {

/// A count for the native library's check of a plain message; a count beyond int is checked as the
/// largest.
int checkable(MPI_Count count) {
  return static_cast<int>(std::min<MPI_Count>(count, std::numeric_limits<int>::max()));
}

/// Partitioned communication with a peer in this cluster, or on a native communicator. `source`:
/// the rank for statuses, if it differs from the native one.
class NativePartitioned final : public NativePersistent {
 public:
  explicit NativePartitioned(int source) : NativePersistent(source), translated_(source >= 0) {}
  bool partitioned() const override { return true; }
  void describe(MPI_Status& status) const override REQUIRES(progress_mutex) {
    if (translated_) NativePersistent::describe(status);
  }

 private:
  bool translated_;
};

int tracked_native(int code, MPI_Request* request, int source = MPI_PROC_NULL) {
  if (code == MPI_SUCCESS && !native_call()) {
    track_persistent(*request, std::make_unique<NativePartitioned>(source));
  }
  return code;
}

/// The operation of an active request of ours; null: the request is native.
PartitionedOperation* operation_of(MPI_Request request, bool* inactive) {
  const auto entry = tracked.find(key(request));
  auto* const ours = entry ? dynamic_cast<GridRequest*>(entry->object) : nullptr;
  if (ours == nullptr) return nullptr;
  *inactive = ours->op == nullptr;
  auto* const operation = dynamic_cast<PartitionedOperation*>(ours->op.get());
  if (operation == nullptr && !*inactive) {
    throw MpiError(MPI_ERR_REQUEST, "the request is not a partitioned one");
  }
  return operation;
}

bool is_ours(MPI_Request request) {
  if (inner_call() || request == MPI_REQUEST_NULL || tracked.empty()) return false;
  const auto entry = tracked.find(key(request));
  return entry && dynamic_cast<GridRequest*>(entry->object) != nullptr;
}

MPI_Comm comm_of(MPI_Request request) {
  const auto entry = tracked.find(key(request));
  return static_cast<GridRequest*>(entry->object)->comm;
}

/// Marks `number` partitions of a request of ours, the i-th being partition_at(i).
template <class PartitionAt>
int mark(MPI_Request request, int number, const char* function, PartitionAt&& partition_at) {
  return shielded(comm_of(request), function, [&] {
    const core::Lock lock(progress_mutex);
    bool inactive = false;
    PartitionedOperation* const operation = operation_of(request, &inactive);
    if (operation == nullptr) throw MpiError(MPI_ERR_REQUEST, "the request is not active");
    for (int i = 0; i < number; ++i) operation->ready(partition_at(i));
  });
}

}  // namespace

// coverage: between clusters each partition leaves when it is ready
ISTHMUS_MPI(Psend_init)
(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  GridComm* const g = message_comm(comm);
  const int local = g == nullptr ? dest : g->native_rank_of(dest);
  if (g == nullptr || (local >= 0 && !may_lose()) || dest == MPI_PROC_NULL) {
    return tracked_native(native.Psend_init(buf, partitions, count, datatype,
                                            local >= 0 ? local : dest, tag, comm, info, request),
                          request);
  }
  return shielded(comm, "MPI_Psend_init", [&]() -> int {
    int code = check_rank(*g, dest, false, "MPI_Psend_init");
    if (code == MPI_SUCCESS) {
      code = check_send<Mode::Standard>(buf, checkable(count), datatype, tag, comm);
    }
    if (code != MPI_SUCCESS) return code;
    const auto channel = make_send_channel(
        g->shared_from_this(), Partitions(const_cast<void*>(buf), partitions, count, datatype),
        dest, tag);
    return make_persistent(
        comm, [channel] { return start_partitioned(channel); }, request);
  });
}

// coverage: as MPI_Psend_init; the sides may have different partitions
ISTHMUS_MPI(Precv_init)
(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  GridComm* const g = message_comm(comm);
  const int local = g == nullptr ? source : g->native_rank_of(source);
  if (g == nullptr || (local >= 0 && !may_lose()) || source == MPI_PROC_NULL) {
    return tracked_native(native.Precv_init(buf, partitions, count, datatype,
                                            local >= 0 ? local : source, tag, comm, info, request),
                          request, local >= 0 && g != nullptr ? source : MPI_PROC_NULL);
  }
  return shielded(comm, "MPI_Precv_init", [&]() -> int {
    int code = check_rank(*g, source, false, "MPI_Precv_init");
    if (code == MPI_SUCCESS) code = check_receive(buf, checkable(count), datatype, tag, comm);
    if (code != MPI_SUCCESS) return code;
    if (tag == MPI_ANY_TAG) throw MpiError(MPI_ERR_TAG, "MPI_ANY_TAG is not allowed here");
    const auto channel = make_recv_channel(
        g->shared_from_this(), Partitions(buf, partitions, count, datatype), source, tag);
    return make_persistent(
        comm, [channel] { return start_partitioned(channel); }, request);
  });
}

ISTHMUS_MPI(Pready)(int partition, MPI_Request request) {
  if (!is_ours(request)) return native.Pready(partition, request);
  return mark(request, 1, "MPI_Pready", [&](int) { return partition; });
}

ISTHMUS_MPI(Pready_range)(int low, int high, MPI_Request request) {
  if (!is_ours(request)) return native.Pready_range(low, high, request);
  return mark(request, high - low + 1, "MPI_Pready_range", [&](int i) { return low + i; });
}

/// MPI_Pready_list's array as in mpi.h: not const in Open MPI 5.0's and MPICH 4.0's.
template <class Function>
struct ListOf;
template <class List>
struct ListOf<int (*)(int, List, MPI_Request)> {
  using type = List;
};
using PartitionList = ListOf<decltype(&PMPI_Pready_list)>::type;

ISTHMUS_MPI(Pready_list)(int length, PartitionList partitions, MPI_Request request) {
  if (!is_ours(request)) return native.Pready_list(length, partitions, request);
  return mark(request, length, "MPI_Pready_list", [&](int i) { return partitions[i]; });
}

// coverage: true once all that a partition holds has come, whatever the sender's partitions are
ISTHMUS_MPI(Parrived)(MPI_Request request, int partition, int* flag) {
  if (!is_ours(request)) return native.Parrived(request, partition, flag);
  const int code = shielded(comm_of(request), "MPI_Parrived", [&] {
    const core::Lock lock(progress_mutex);
    bool inactive = false;
    PartitionedOperation* const operation = operation_of(request, &inactive);
    *flag = inactive || operation->arrived(partition) ? 1 : 0;
  });
  if (code == MPI_SUCCESS && *flag == 0) {  // a caller that tests in a loop does the network's work
    pump();
    grid()->endpoint->poll();
  }
  return code;
}

#endif

}  // namespace isthmus::face
