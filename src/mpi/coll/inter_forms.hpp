// The collectives of intercommunicators, which collective_forms.hpp hands on: as there otherwise.
// Roots are MPI_ROOT, MPI_PROC_NULL or ranks of the remote side.
#pragma once

#include <vector>

#include "mpi/coll/coll_blocks.hpp"
#include "mpi/coll/collective.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face::inter_forms {

int barrier(const Call& call);
int bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, const Call& call);

/// `received` is empty but at the root. Even: all contributions are of one size.
int gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
           std::vector<Block> received, coll::Blocks blocks, int root, const Call& call);
/// `sent` is empty but at the root.
int scatter(const std::vector<Block>& sent, void* recvbuf, MPI_Count recvcount,
            MPI_Datatype recvtype, coll::Blocks blocks, int root, const Call& call);
int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
              std::vector<Block> received, const Call& call);
int alltoall(const std::vector<Block>& sent, std::vector<Block> received, const Call& call);

int reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
           int root, const Call& call);
int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
              const Call& call);
/// `counts` of my side.
int reduce_scatter(const void* sendbuf, void* recvbuf, std::vector<std::size_t> counts,
                   MPI_Datatype type, MPI_Op op, const Call& call);

}  // namespace isthmus::face::inter_forms
