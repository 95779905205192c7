// The grid as include/isthmus.h shows it to programs; the stub hands its questions on to these.
// Local, on any thread.
#pragma once

extern "C" {
/// 0 if this process is not a rank of a grid; each of the following returns -1 (or "") then, and
/// for a rank or cluster that does not exist.
int isthmus_topology_clusters();
int isthmus_topology_cluster_of(int rank);
int isthmus_topology_cluster_size(int cluster);
/// Lives as long as the process.
const char* isthmus_topology_cluster_name(int cluster);
/// 0: one and the same cluster, 1: direct, 2: by gateways. Latency: one way, in seconds; rate:
/// bytes a second; 0: unknown. Either pointer may be null.
int isthmus_topology_link(int a, int b, double* latency, double* rate);
/// Writes an MPI_Comm and returns 0, between MPI_Init and MPI_Finalize; else leaves `comm` alone.
int isthmus_topology_cluster_comm(void* comm);
/// Its Fortran handle; that of MPI_COMM_WORLD outside of MPI_Init and MPI_Finalize.
int isthmus_topology_cluster_comm_f();
/// The number of channels in the grid file; 0 in a spawned world.
int isthmus_topology_channels();
/// Lives as long as the process; "" for an invalid channel.
const char* isthmus_topology_channel_name(int channel);
/// Writes an MPI_Comm and returns 0; MPI_COMM_NULL and -1 if this process is not in the channel.
int isthmus_topology_channel_comm(int channel, void* comm);
/// Its Fortran handle.
int isthmus_topology_channel_comm_f(int channel);
/// The number of changes of clusters since this process has started.
int isthmus_topology_changes();
/// A net::ClusterChange; -1 if there is none with this number, from 0 on. The texts live as long as
/// the process; either pointer may be null.
int isthmus_topology_change(int number, const char** cluster, const char** why);
}
