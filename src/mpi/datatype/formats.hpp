// Formats of data between the clusters of a communicator. Between clusters whose processors are
// alike, data crosses as it is in memory; between others in core::kCommonFormat.
#pragma once

#include "core/datatype/format.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// The format of this process's memory, as its cluster has said.
core::Format own_format();
/// The format of another process's memory.
core::Format format_of_node(int node);
/// The format of messages between this process and that one.
core::Format format_between(int node);
/// The format in which collectives of the communicator move data, and MPI_Pack writes for it.
inline core::Format format_among(const GridComm& g) {
  return g.mixes_formats ? core::kCommonFormat : own_format();
}

/// Throws MpiError with MPI_ERR_TYPE if data of these elements cannot pass between this process and
/// a rank: a `long double` of an unknown format is in it.
void check_passes(const GridComm& g, int rank, const Signature* signature);
/// Makes data ready to go to that rank. Throws as check_passes.
void change_for(const GridComm& g, int rank, Outgoing& outgoing);
/// For elements that stay in a window or a file of another format. Throws MpiError with
/// MPI_ERR_TYPE if they have another extent there, or a `long double` of an unknown format.
void check_known(const Signature& signature, core::Format there);
/// check_passes for a collective with data of `type`. All members decide alike, whatever their
/// part in it.
void check_passes(const GridComm& g, MPI_Datatype type);

}  // namespace isthmus::face
