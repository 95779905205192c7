// Formats of data between the clusters of a communicator. Between clusters whose processors are
// alike, data crosses as it is in memory; between others in core::kCommonFormat.
#pragma once

#include "core/datatype/format.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Of this process's memory, as its cluster has said.
core::Format own_format();
/// Of the memory of a process.
core::Format format_of_node(int node);
/// Of messages between this process and that one.
core::Format format_between(int node);
/// Of what a communicator's collectives move, and of what MPI_Pack makes for it.
inline core::Format format_among(const GridComm& g) {
  return g.mixes_formats ? core::kCommonFormat : own_format();
}

/// Throws MpiError with MPI_ERR_TYPE if data of these elements cannot pass between this process and
/// a rank: a `long double` of an unknown format is in it.
void check_passes(const GridComm& g, int rank, const Signature* signature);
/// For elements that stay in a window or a file of another format. Throws MpiError with
/// MPI_ERR_TYPE if they have another extent there, or a `long double` of an unknown format.
void check_known(const Signature& signature, core::Format there);
/// Makes data ready to go to that rank. Throws as check_passes.
void change_for(const GridComm& g, int rank, Outgoing& outgoing);
/// The same check for a collective with data of `type`. All members decide alike, for any part in
/// it.
void check_passes(const GridComm& g, MPI_Datatype type);

}  // namespace isthmus::face
