// The collectives of grid communicators with the arguments of MPI, in the form of `call`. Each
// returns the result for the calling MPI function. `Count` and `Place` are int, or MPI_Count and
// MPI_Aint. The entries that call them are generated (tools/generate/collectives.py).
#pragma once

#include "mpi/coll/collective.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face::forms {

int barrier(const Call& call);
int bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, const Call& call);

int gather_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, int root, const Call& call);
template <class Count, class Place>
int gather_placed(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const Count* counts, const Place* places, MPI_Datatype recvtype, int root,
                  const Call& call);
int scatter_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, const Call& call);
template <class Count, class Place>
int scatter_placed(const void* sendbuf, const Count* counts, const Place* places,
                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root, const Call& call);

int allgather_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, const Call& call);
template <class Count, class Place>
int allgather_placed(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const Count* counts, const Place* places, MPI_Datatype recvtype,
                     const Call& call);
int alltoall_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, const Call& call);
template <class Count, class Place>
int alltoall_placed(const void* sendbuf, const Count* sendcounts, const Place* sendplaces,
                    MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                    const Place* recvplaces, MPI_Datatype recvtype, const Call& call);
template <class Count, class Place>
int alltoall_typed(const void* sendbuf, const Count* sendcounts, const Place* sendplaces,
                   const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts,
                   const Place* recvplaces, const MPI_Datatype* recvtypes, const Call& call);

int reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
           int root, const Call& call);
int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
              const Call& call);
template <class Count>
int reduce_scatter_placed(const void* sendbuf, void* recvbuf, const Count* counts,
                          MPI_Datatype type, MPI_Op op, const Call& call);
int reduce_scatter_even(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                        MPI_Op op, const Call& call);
int scan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
         const Call& call);
int exscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
           const Call& call);

}  // namespace isthmus::face::forms
