// The functions of MPI-4.1 sections 6.9 to 6.11 over coll_reduce.cpp.
#include "mpi/coll/collective_forms.hpp"
#include "mpi/native/large_count.hpp"

namespace isthmus::face {

ISTHMUS_MPI(Reduce)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
 MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::reduce(sendbuf, recvbuf, count, type, op, root, {found, "MPI_Reduce"});
  }
  return parked(native.Reduce, sendbuf, recvbuf, count, type, op, root, comm);
}
ISTHMUS_MPI(Ireduce)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
 MPI_Comm comm, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::reduce(sendbuf, recvbuf, count, type, op, root, {found, "MPI_Ireduce", request});
  }
  return native.Ireduce(sendbuf, recvbuf, count, type, op, root, comm, request);
}
ISTHMUS_MPI(Allreduce)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::allreduce(sendbuf, recvbuf, count, type, op, {found, "MPI_Allreduce"});
  }
  return parked(native.Allreduce, sendbuf, recvbuf, count, type, op, comm);
}
ISTHMUS_MPI(Iallreduce)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::allreduce(sendbuf, recvbuf, count, type, op, {found, "MPI_Iallreduce", request});
  }
  return native.Iallreduce(sendbuf, recvbuf, count, type, op, comm, request);
}
ISTHMUS_MPI(Reduce_scatter)
(const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype type, MPI_Op op,
 MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::reduce_scatter_placed(sendbuf, recvbuf, recvcounts, type, op,
                                        {found, "MPI_Reduce_scatter"});
  }
  return parked(native.Reduce_scatter, sendbuf, recvbuf, recvcounts, type, op, comm);
}
ISTHMUS_MPI(Ireduce_scatter)
(const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype type, MPI_Op op,
 MPI_Comm comm, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::reduce_scatter_placed(sendbuf, recvbuf, recvcounts, type, op,
                                        {found, "MPI_Ireduce_scatter", request});
  }
  return native.Ireduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm, request);
}
ISTHMUS_MPI(Reduce_scatter_block)
(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::reduce_scatter_even(sendbuf, recvbuf, recvcount, type, op,
                                      {found, "MPI_Reduce_scatter_block"});
  }
  return parked(native.Reduce_scatter_block, sendbuf, recvbuf, recvcount, type, op, comm);
}
ISTHMUS_MPI(Ireduce_scatter_block)
(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::reduce_scatter_even(sendbuf, recvbuf, recvcount, type, op,
                                      {found, "MPI_Ireduce_scatter_block", request});
  }
  return native.Ireduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm, request);
}
ISTHMUS_MPI(Scan)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::scan(sendbuf, recvbuf, count, type, op, {found, "MPI_Scan"});
  }
  return parked(native.Scan, sendbuf, recvbuf, count, type, op, comm);
}
ISTHMUS_MPI(Iscan)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::scan(sendbuf, recvbuf, count, type, op, {found, "MPI_Iscan", request});
  }
  return native.Iscan(sendbuf, recvbuf, count, type, op, comm, request);
}
ISTHMUS_MPI(Exscan)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::exscan(sendbuf, recvbuf, count, type, op, {found, "MPI_Exscan"});
  }
  return parked(native.Exscan, sendbuf, recvbuf, count, type, op, comm);
}
ISTHMUS_MPI(Iexscan)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::exscan(sendbuf, recvbuf, count, type, op, {found, "MPI_Iexscan", request});
  }
  return native.Iexscan(sendbuf, recvbuf, count, type, op, comm, request);
}

#if ISTHMUS_LARGE_COUNT
ISTHMUS_MPI(Reduce_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
 MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::reduce(sendbuf, recvbuf, count, type, op, root, {found, "MPI_Reduce_c"});
  }
  return parked(native.Reduce_c, sendbuf, recvbuf, count, type, op, root, comm);
}
ISTHMUS_MPI(Ireduce_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
 MPI_Comm comm, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::reduce(sendbuf, recvbuf, count, type, op, root,
                         {found, "MPI_Ireduce_c", request});
  }
  return native.Ireduce_c(sendbuf, recvbuf, count, type, op, root, comm, request);
}
ISTHMUS_MPI(Allreduce_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::allreduce(sendbuf, recvbuf, count, type, op, {found, "MPI_Allreduce_c"});
  }
  return parked(native.Allreduce_c, sendbuf, recvbuf, count, type, op, comm);
}
ISTHMUS_MPI(Iallreduce_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::allreduce(sendbuf, recvbuf, count, type, op,
                            {found, "MPI_Iallreduce_c", request});
  }
  return native.Iallreduce_c(sendbuf, recvbuf, count, type, op, comm, request);
}
ISTHMUS_MPI(Reduce_scatter_c)
(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, MPI_Datatype type, MPI_Op op,
 MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::reduce_scatter_placed(sendbuf, recvbuf, recvcounts, type, op,
                                        {found, "MPI_Reduce_scatter_c"});
  }
  return parked(native.Reduce_scatter_c, sendbuf, recvbuf, recvcounts, type, op, comm);
}
ISTHMUS_MPI(Ireduce_scatter_c)
(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, MPI_Datatype type, MPI_Op op,
 MPI_Comm comm, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::reduce_scatter_placed(sendbuf, recvbuf, recvcounts, type, op,
                                        {found, "MPI_Ireduce_scatter_c", request});
  }
  return native.Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, type, op, comm, request);
}
ISTHMUS_MPI(Reduce_scatter_block_c)
(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type, MPI_Op op,
 MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::reduce_scatter_even(sendbuf, recvbuf, recvcount, type, op,
                                      {found, "MPI_Reduce_scatter_block_c"});
  }
  return parked(native.Reduce_scatter_block_c, sendbuf, recvbuf, recvcount, type, op, comm);
}
ISTHMUS_MPI(Ireduce_scatter_block_c)
(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type, MPI_Op op,
 MPI_Comm comm, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::reduce_scatter_even(sendbuf, recvbuf, recvcount, type, op,
                                      {found, "MPI_Ireduce_scatter_block_c", request});
  }
  return native.Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, type, op, comm, request);
}
ISTHMUS_MPI(Scan_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::scan(sendbuf, recvbuf, count, type, op, {found, "MPI_Scan_c"});
  }
  return parked(native.Scan_c, sendbuf, recvbuf, count, type, op, comm);
}
ISTHMUS_MPI(Iscan_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::scan(sendbuf, recvbuf, count, type, op, {found, "MPI_Iscan_c", request});
  }
  return native.Iscan_c(sendbuf, recvbuf, count, type, op, comm, request);
}
ISTHMUS_MPI(Exscan_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (const auto found = spanning(comm)) {
    return forms::exscan(sendbuf, recvbuf, count, type, op, {found, "MPI_Exscan_c"});
  }
  return parked(native.Exscan_c, sendbuf, recvbuf, count, type, op, comm);
}
ISTHMUS_MPI(Iexscan_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return forms::exscan(sendbuf, recvbuf, count, type, op, {found, "MPI_Iexscan_c", request});
  }
  return native.Iexscan_c(sendbuf, recvbuf, count, type, op, comm, request);
}
#endif
}  // namespace isthmus::face
