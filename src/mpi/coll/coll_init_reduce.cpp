// MPI-4.1 section 6.13: persistent reductions and scans.
#include "mpi/coll/coll_init.hpp"

#ifdef ISTHMUS_HAS_Bcast_init
namespace isthmus::face {

ISTHMUS_MPI(Reduce_init)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Reduce_init"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::reduce(sendbuf, recvbuf, count, types[0], op, root,
                                                  call);
                           });
  }
  return native.Reduce_init(sendbuf, recvbuf, count, type, op, root, comm, info, request);
}
ISTHMUS_MPI(Allreduce_init)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Allreduce_init"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::allreduce(sendbuf, recvbuf, count, types[0], op, call);
                           });
  }
  return native.Allreduce_init(sendbuf, recvbuf, count, type, op, comm, info, request);
}
ISTHMUS_MPI(Reduce_scatter_init)
(const void* sendbuf, void* recvbuf, const int* recvcounts, MPI_Datatype type, MPI_Op op,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Reduce_scatter_init"}, request, {type}, op,
                           [=, recvcounts = Copied(recvcounts, found->size)](
                               const MPI_Datatype* types, const Call& call) {
                             return forms::reduce_scatter_placed(sendbuf, recvbuf, recvcounts.get(),
                                                                 types[0], op, call);
                           });
  }
  return native.Reduce_scatter_init(sendbuf, recvbuf, recvcounts, type, op, comm, info, request);
}
ISTHMUS_MPI(Reduce_scatter_block_init)
(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Reduce_scatter_block_init"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::reduce_scatter_even(sendbuf, recvbuf, recvcount,
                                                               types[0], op, call);
                           });
  }
  return native.Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, type, op, comm, info,
                                          request);
}
ISTHMUS_MPI(Scan_init)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Scan_init"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::scan(sendbuf, recvbuf, count, types[0], op, call);
                           });
  }
  return native.Scan_init(sendbuf, recvbuf, count, type, op, comm, info, request);
}
ISTHMUS_MPI(Exscan_init)
(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Exscan_init"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::exscan(sendbuf, recvbuf, count, types[0], op, call);
                           });
  }
  return native.Exscan_init(sendbuf, recvbuf, count, type, op, comm, info, request);
}

#if ISTHMUS_LARGE_COUNT
ISTHMUS_MPI(Reduce_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Reduce_init_c"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::reduce(sendbuf, recvbuf, count, types[0], op, root,
                                                  call);
                           });
  }
  return native.Reduce_init_c(sendbuf, recvbuf, count, type, op, root, comm, info, request);
}
ISTHMUS_MPI(Allreduce_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Allreduce_init_c"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::allreduce(sendbuf, recvbuf, count, types[0], op, call);
                           });
  }
  return native.Allreduce_init_c(sendbuf, recvbuf, count, type, op, comm, info, request);
}
ISTHMUS_MPI(Reduce_scatter_init_c)
(const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, MPI_Datatype type, MPI_Op op,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Reduce_scatter_init_c"}, request, {type}, op,
                           [=, recvcounts = Copied(recvcounts, found->size)](
                               const MPI_Datatype* types, const Call& call) {
                             return forms::reduce_scatter_placed(sendbuf, recvbuf, recvcounts.get(),
                                                                 types[0], op, call);
                           });
  }
  return native.Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, type, op, comm, info, request);
}
ISTHMUS_MPI(Reduce_scatter_block_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type, MPI_Op op,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Reduce_scatter_block_init_c"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::reduce_scatter_even(sendbuf, recvbuf, recvcount,
                                                               types[0], op, call);
                           });
  }
  return native.Reduce_scatter_block_init_c(sendbuf, recvbuf, recvcount, type, op, comm, info,
                                            request);
}
ISTHMUS_MPI(Scan_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Scan_init_c"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::scan(sendbuf, recvbuf, count, types[0], op, call);
                           });
  }
  return native.Scan_init_c(sendbuf, recvbuf, count, type, op, comm, info, request);
}
ISTHMUS_MPI(Exscan_init_c)
(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Exscan_init_c"}, request, {type}, op,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::exscan(sendbuf, recvbuf, count, types[0], op, call);
                           });
  }
  return native.Exscan_init_c(sendbuf, recvbuf, count, type, op, comm, info, request);
}

#endif

}  // namespace isthmus::face
#endif
