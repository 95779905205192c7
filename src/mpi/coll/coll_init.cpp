// MPI-4.1 section 6.13: persistent collectives that move data, and the barrier.
#include "mpi/coll/coll_init.hpp"

#ifdef ISTHMUS_HAS_Bcast_init
namespace isthmus::face {
namespace {

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

#endif

}  // namespace isthmus::face
#endif
