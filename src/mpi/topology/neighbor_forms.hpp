// The neighbourhood collectives of grid communicators with the arguments of MPI, in the forms of
// mpi/coll/collective_forms.hpp. MPI_ERR_TOPOLOGY if the communicator has no topology.
#pragma once

#include "mpi/coll/collective.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face::forms {

int neighbor_allgather_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            const Call& call);
template <class Count, class Place>
int neighbor_allgather_placed(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const Count* counts, const Place* places,
                              MPI_Datatype recvtype, const Call& call);
int neighbor_alltoall_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                           const Call& call);
template <class Count, class Place>
int neighbor_alltoall_placed(const void* sendbuf, const Count* sendcounts, const Place* sendplaces,
                             MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                             const Place* recvplaces, MPI_Datatype recvtype, const Call& call);
template <class Count>
int neighbor_alltoall_typed(const void* sendbuf, const Count* sendcounts,
                            const MPI_Aint* sendplaces, const MPI_Datatype* sendtypes,
                            void* recvbuf, const Count* recvcounts, const MPI_Aint* recvplaces,
                            const MPI_Datatype* recvtypes, const Call& call);

}  // namespace isthmus::face::forms
