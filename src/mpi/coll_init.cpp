// MPI-4.1 section 6.13: persistent collectives.
#include "mpi/coll_persistent.hpp"
#include "mpi/collective_forms.hpp"
#include "mpi/large_count.hpp"

#ifdef ISTHMUS_HAS_Bcast_init
namespace isthmus::face {
namespace {

/// The datatype of a buffer that may be MPI_IN_PLACE.
MPI_Datatype significant(const void* buffer, MPI_Datatype type) {
  return buffer == MPI_IN_PLACE ? MPI_DATATYPE_NULL : type;
}
MPI_Datatype at(bool here, MPI_Datatype type) { return here ? type : MPI_DATATYPE_NULL; }

/// An array of the program's that may be gone when the request is started. Elements that are not
/// significant are none; a null pointer stays one.
template <class T>
class Copied {
 public:
  Copied(const T* from, int elements) : given_(from != nullptr) {
    if (given_) values_.assign(from, from + elements);
  }
  const T* get() const { return given_ ? values_.data() : nullptr; }

 private:
  bool given_;
  std::vector<T> values_;
};

template <class Count>
void add(std::vector<MPI_Datatype>& types, const Count* counts, const MPI_Datatype* more,
         int ranks) {
  for (int r = 0; r < ranks; ++r) types.push_back(counts[r] == 0 ? MPI_DATATYPE_NULL : more[r]);
}

template <class Count, class Place>
int alltoallw_init(const void* sendbuf, const Count* sendcounts, const Place* sendplaces,
                   const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts,
                   const Place* recvplaces, const MPI_Datatype* recvtypes, MPI_Request* request,
                   const Call& call) {
  const auto ranks = static_cast<std::size_t>(call.comm->size);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  std::vector<MPI_Datatype> types;
  if (recvcounts != nullptr && recvtypes != nullptr) {
    add(types, recvcounts, recvtypes, call.comm->size);
    if (!in_place && sendcounts != nullptr && sendtypes != nullptr) {
      add(types, sendcounts, sendtypes, call.comm->size);
    }
  }
  const bool whole = types.size() == (in_place ? ranks : 2 * ranks);
  const int sent = in_place ? 0 : call.comm->size;
  return init_collective(
      call, request, std::move(types), MPI_OP_NULL,
      [=, sendcounts = Copied(sendcounts, sent), sendplaces = Copied(sendplaces, sent),
       recvcounts = Copied(recvcounts, call.comm->size),
       recvplaces = Copied(recvplaces, call.comm->size)](const MPI_Datatype* kept,
                                                         const Call& each) {
        return forms::alltoall_typed(sendbuf, sendcounts.get(), sendplaces.get(),
                                     whole && !in_place ? kept + ranks : nullptr, recvbuf,
                                     recvcounts.get(), recvplaces.get(), whole ? kept : nullptr,
                                     each);
      });
}

}  // namespace

ISTHMUS_MPI(Barrier_init)
(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective(
        {found, "MPI_Barrier_init"}, request, {}, MPI_OP_NULL,
        [](const MPI_Datatype*, const Call& call) { return forms::barrier(call); });
  }
  return native.Barrier_init(comm, info, request);
}
ISTHMUS_MPI(Bcast_init)
(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Bcast_init"}, request, {type}, MPI_OP_NULL,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::bcast(buffer, count, types[0], root, call);
                           });
  }
  return native.Bcast_init(buffer, count, type, root, comm, info, request);
}
ISTHMUS_MPI(Gather_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Gather_init"}, request,
                           {significant(sendbuf, sendtype), at(found->rank == root, recvtype)},
                           MPI_OP_NULL, [=](const MPI_Datatype* types, const Call& call) {
                             return forms::gather_even(sendbuf, sendcount, types[0], recvbuf,
                                                       recvcount, types[1], root, call);
                           });
  }
  return native.Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                            info, request);
}
ISTHMUS_MPI(Gatherv_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
 const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective(
        {found, "MPI_Gatherv_init"}, request,
        {significant(sendbuf, sendtype), at(found->rank == root, recvtype)}, MPI_OP_NULL,
        [=, recvcounts = Copied(recvcounts, found->rank == root ? found->size : 0),
         displs = Copied(displs, found->rank == root ? found->size : 0)](const MPI_Datatype* types,
                                                                         const Call& call) {
          return forms::gather_placed(sendbuf, sendcount, types[0], recvbuf, recvcounts.get(),
                                      displs.get(), types[1], root, call);
        });
  }
  return native.Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                             root, comm, info, request);
}
ISTHMUS_MPI(Scatter_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Scatter_init"}, request,
                           {at(found->rank == root, sendtype), significant(recvbuf, recvtype)},
                           MPI_OP_NULL, [=](const MPI_Datatype* types, const Call& call) {
                             return forms::scatter_even(sendbuf, sendcount, types[0], recvbuf,
                                                        recvcount, types[1], root, call);
                           });
  }
  return native.Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                             info, request);
}
ISTHMUS_MPI(Scatterv_init)
(const void* sendbuf, const int* sendcounts, const int* displs, MPI_Datatype sendtype,
 void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective(
        {found, "MPI_Scatterv_init"}, request,
        {at(found->rank == root, sendtype), significant(recvbuf, recvtype)}, MPI_OP_NULL,
        [=, sendcounts = Copied(sendcounts, found->rank == root ? found->size : 0),
         displs = Copied(displs, found->rank == root ? found->size : 0)](const MPI_Datatype* types,
                                                                         const Call& call) {
          return forms::scatter_placed(sendbuf, sendcounts.get(), displs.get(), types[0], recvbuf,
                                       recvcount, types[1], root, call);
        });
  }
  return native.Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                              root, comm, info, request);
}
ISTHMUS_MPI(Allgather_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Allgather_init"}, request,
                           {significant(sendbuf, sendtype), recvtype}, MPI_OP_NULL,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::allgather_even(sendbuf, sendcount, types[0], recvbuf,
                                                          recvcount, types[1], call);
                           });
  }
  return native.Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                               info, request);
}
ISTHMUS_MPI(Allgatherv_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
 const int* displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective(
        {found, "MPI_Allgatherv_init"}, request, {significant(sendbuf, sendtype), recvtype},
        MPI_OP_NULL,
        [=, recvcounts = Copied(recvcounts, found->size), displs = Copied(displs, found->size)](
            const MPI_Datatype* types, const Call& call) {
          return forms::allgather_placed(sendbuf, sendcount, types[0], recvbuf, recvcounts.get(),
                                         displs.get(), types[1], call);
        });
  }
  return native.Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                comm, info, request);
}
ISTHMUS_MPI(Alltoall_init)
(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Alltoall_init"}, request,
                           {significant(sendbuf, sendtype), recvtype}, MPI_OP_NULL,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::alltoall_even(sendbuf, sendcount, types[0], recvbuf,
                                                         recvcount, types[1], call);
                           });
  }
  return native.Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                              info, request);
}
ISTHMUS_MPI(Alltoallv_init)
(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
 void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
 MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective(
        {found, "MPI_Alltoallv_init"}, request, {significant(sendbuf, sendtype), recvtype},
        MPI_OP_NULL,
        [=, sendcounts = Copied(sendcounts, sendbuf != MPI_IN_PLACE ? found->size : 0),
         sdispls = Copied(sdispls, sendbuf != MPI_IN_PLACE ? found->size : 0),
         recvcounts = Copied(recvcounts, found->size),
         rdispls = Copied(rdispls, found->size)](const MPI_Datatype* types, const Call& call) {
          return forms::alltoall_placed(sendbuf, sendcounts.get(), sdispls.get(), types[0], recvbuf,
                                        recvcounts.get(), rdispls.get(), types[1], call);
        });
  }
  return native.Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                               recvtype, comm, info, request);
}
ISTHMUS_MPI(Alltoallw_init)
(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
 void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                          recvtypes, request, {found, "MPI_Alltoallw_init"});
  }
  return native.Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                               rdispls, recvtypes, comm, info, request);
}
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
ISTHMUS_MPI(Bcast_init_c)
(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Bcast_init_c"}, request, {type}, MPI_OP_NULL,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::bcast(buffer, count, types[0], root, call);
                           });
  }
  return native.Bcast_init_c(buffer, count, type, root, comm, info, request);
}
ISTHMUS_MPI(Gather_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Gather_init_c"}, request,
                           {significant(sendbuf, sendtype), at(found->rank == root, recvtype)},
                           MPI_OP_NULL, [=](const MPI_Datatype* types, const Call& call) {
                             return forms::gather_even(sendbuf, sendcount, types[0], recvbuf,
                                                       recvcount, types[1], root, call);
                           });
  }
  return native.Gather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                              comm, info, request);
}
ISTHMUS_MPI(Gatherv_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, int root,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective(
        {found, "MPI_Gatherv_init_c"}, request,
        {significant(sendbuf, sendtype), at(found->rank == root, recvtype)}, MPI_OP_NULL,
        [=, recvcounts = Copied(recvcounts, found->rank == root ? found->size : 0),
         displs = Copied(displs, found->rank == root ? found->size : 0)](const MPI_Datatype* types,
                                                                         const Call& call) {
          return forms::gather_placed(sendbuf, sendcount, types[0], recvbuf, recvcounts.get(),
                                      displs.get(), types[1], root, call);
        });
  }
  return native.Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                               root, comm, info, request);
}
ISTHMUS_MPI(Scatter_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Scatter_init_c"}, request,
                           {at(found->rank == root, sendtype), significant(recvbuf, recvtype)},
                           MPI_OP_NULL, [=](const MPI_Datatype* types, const Call& call) {
                             return forms::scatter_even(sendbuf, sendcount, types[0], recvbuf,
                                                        recvcount, types[1], root, call);
                           });
  }
  return native.Scatter_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               comm, info, request);
}
ISTHMUS_MPI(Scatterv_init_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* displs, MPI_Datatype sendtype,
 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
 MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective(
        {found, "MPI_Scatterv_init_c"}, request,
        {at(found->rank == root, sendtype), significant(recvbuf, recvtype)}, MPI_OP_NULL,
        [=, sendcounts = Copied(sendcounts, found->rank == root ? found->size : 0),
         displs = Copied(displs, found->rank == root ? found->size : 0)](const MPI_Datatype* types,
                                                                         const Call& call) {
          return forms::scatter_placed(sendbuf, sendcounts.get(), displs.get(), types[0], recvbuf,
                                       recvcount, types[1], root, call);
        });
  }
  return native.Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                                root, comm, info, request);
}
ISTHMUS_MPI(Allgather_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Allgather_init_c"}, request,
                           {significant(sendbuf, sendtype), recvtype}, MPI_OP_NULL,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::allgather_even(sendbuf, sendcount, types[0], recvbuf,
                                                          recvcount, types[1], call);
                           });
  }
  return native.Allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                 info, request);
}
ISTHMUS_MPI(Allgatherv_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm,
 MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective(
        {found, "MPI_Allgatherv_init_c"}, request, {significant(sendbuf, sendtype), recvtype},
        MPI_OP_NULL,
        [=, recvcounts = Copied(recvcounts, found->size), displs = Copied(displs, found->size)](
            const MPI_Datatype* types, const Call& call) {
          return forms::allgather_placed(sendbuf, sendcount, types[0], recvbuf, recvcounts.get(),
                                         displs.get(), types[1], call);
        });
  }
  return native.Allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                  recvtype, comm, info, request);
}
ISTHMUS_MPI(Alltoall_init_c)
(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective({found, "MPI_Alltoall_init_c"}, request,
                           {significant(sendbuf, sendtype), recvtype}, MPI_OP_NULL,
                           [=](const MPI_Datatype* types, const Call& call) {
                             return forms::alltoall_even(sendbuf, sendcount, types[0], recvbuf,
                                                         recvcount, types[1], call);
                           });
  }
  return native.Alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                info, request);
}
ISTHMUS_MPI(Alltoallv_init_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
 void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return init_collective(
        {found, "MPI_Alltoallv_init_c"}, request, {significant(sendbuf, sendtype), recvtype},
        MPI_OP_NULL,
        [=, sendcounts = Copied(sendcounts, sendbuf != MPI_IN_PLACE ? found->size : 0),
         sdispls = Copied(sdispls, sendbuf != MPI_IN_PLACE ? found->size : 0),
         recvcounts = Copied(recvcounts, found->size),
         rdispls = Copied(rdispls, found->size)](const MPI_Datatype* types, const Call& call) {
          return forms::alltoall_placed(sendbuf, sendcounts.get(), sdispls.get(), types[0], recvbuf,
                                        recvcounts.get(), rdispls.get(), types[1], call);
        });
  }
  return native.Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                 rdispls, recvtype, comm, info, request);
}
ISTHMUS_MPI(Alltoallw_init_c)
(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
 const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
 const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (const auto found = spanning(comm)) {
    return alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                          recvtypes, request, {found, "MPI_Alltoallw_init_c"});
  }
  return native.Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                 rdispls, recvtypes, comm, info, request);
}
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
