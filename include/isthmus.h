/* The clusters that this program runs on, for C and C++ (docs/topology.md).
 *
 * A header alone: nothing to link (before glibc 2.34: -ldl). The answers come from the library that
 * `isthmus run` preloads. Without Isthmus the same program sees one cluster, the whole of
 * MPI_COMM_WORLD. Clusters are numbered in the order of their first ranks; ranks are those of
 * MPI_COMM_WORLD. All calls are local, cheap and thread-safe, and may be made between MPI_Init and
 * MPI_Finalize. */
#ifndef ISTHMUS_H
#define ISTHMUS_H

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The connection of two clusters. */
enum {
  ISTHMUS_LINK_LOCAL = 0,   /* both are the same one: its native MPI */
  ISTHMUS_LINK_DIRECT = 1,  /* their processes reach each other */
  ISTHMUS_LINK_GATEWAY = 2, /* gateways forward between them */
};

/* For this header alone: a function of the preloaded library; 0 without Isthmus. */
static inline void* isthmus_find_(const char* name) {
  void* const program = dlopen((const char*)0, RTLD_LAZY); /* all that it has loaded */
  void* const found = program ? dlsym(program, name) : (void*)0;
  if (program) dlclose(program);
  return found;
}

/* The number of clusters; 1 without Isthmus. */
static inline int isthmus_clusters(void) {
  int (*ask)(void);
  void* const found = isthmus_find_("isthmus_topology_clusters");
  memcpy(&ask, &found, sizeof ask);
  const int clusters = found ? ask() : 0;
  return clusters > 0 ? clusters : 1;
}

/* The cluster of a rank; -1 for an invalid rank. */
static inline int isthmus_cluster_of(int rank) {
  int (*ask)(int);
  int size = 0;
  void* const found = isthmus_find_("isthmus_topology_cluster_of");
  memcpy(&ask, &found, sizeof ask);
  if (found && isthmus_clusters() > 1) return ask(rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return rank >= 0 && rank < size ? 0 : -1;
}

/* The cluster of this process. */
static inline int isthmus_cluster(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return isthmus_cluster_of(rank);
}

/* The number of ranks of a cluster; -1 for an invalid cluster. */
static inline int isthmus_cluster_size(int cluster) {
  int (*ask)(int);
  int size = -1;
  void* const found = isthmus_find_("isthmus_topology_cluster_size");
  memcpy(&ask, &found, sizeof ask);
  if (found && isthmus_clusters() > 1) return ask(cluster);
  if (cluster == 0) MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/* The name of a cluster in the grid file, valid as long as the program runs; "" for an invalid
 * cluster, and without Isthmus. */
static inline const char* isthmus_cluster_name(int cluster) {
  const char* (*ask)(int);
  void* const found = isthmus_find_("isthmus_topology_cluster_name");
  memcpy(&ask, &found, sizeof ask);
  if (found && isthmus_clusters() > 1) return ask(cluster);
  const char* const own = getenv("ISTHMUS_CLUSTER"); /* all that a run on one cluster has */
  return own && cluster == 0 ? own : "";
}

/* The connection of two clusters: ISTHMUS_LINK_..., or -1 for an invalid cluster. `*latency` is for
 * one way, in seconds; `*rate` is in bytes a second, each way. Both are from the grid file or
 * measured by `isthmus tune`; 0 if unknown. Either pointer may be null. */
static inline int isthmus_link(int a, int b, double* latency, double* rate) {
  int (*ask)(int, int, double*, double*);
  void* const found = isthmus_find_("isthmus_topology_link");
  memcpy(&ask, &found, sizeof ask);
  if (latency) *latency = 0;
  if (rate) *rate = 0;
  if (found && isthmus_clusters() > 1) return ask(a, b, latency, rate);
  return a == 0 && b == 0 ? ISTHMUS_LINK_LOCAL : -1;
}

/* A communicator of the ranks of this process's cluster, in the order of MPI_COMM_WORLD. Without
 * Isthmus it is MPI_COMM_WORLD itself. Do not free it. */
static inline MPI_Comm isthmus_cluster_comm(void) {
  int (*ask)(void*);
  MPI_Comm comm = MPI_COMM_WORLD;
  void* const found = isthmus_find_("isthmus_topology_cluster_comm");
  memcpy(&ask, &found, sizeof ask);
  if (found) ask(&comm); /* leaves it unchanged if the grid has one cluster */
  return comm;
}

/* The number of channels, which are the tables [channel.NAME] of the grid file: at most 64; 0
 * without Isthmus and on one cluster. */
static inline int isthmus_channels(void) {
  int (*ask)(void);
  void* const found = isthmus_find_("isthmus_topology_channels");
  memcpy(&ask, &found, sizeof ask);
  return found && isthmus_clusters() > 1 ? ask() : 0;
}

/* The name of a channel, valid as long as the program runs; channels have the order of the grid
 * file. "" for an invalid channel. */
static inline const char* isthmus_channel_name(int channel) {
  const char* (*ask)(int);
  void* const found = isthmus_find_("isthmus_topology_channel_name");
  memcpy(&ask, &found, sizeof ask);
  return found && isthmus_clusters() > 1 ? ask(channel) : "";
}

/* A communicator of the processes of a channel, in the order of MPI_COMM_WORLD; MPI_COMM_NULL if
 * this process is not in the channel. Do not free it. */
static inline MPI_Comm isthmus_channel_comm(int channel) {
  int (*ask)(int, void*);
  MPI_Comm comm = MPI_COMM_NULL;
  void* const found = isthmus_find_("isthmus_topology_channel_comm");
  memcpy(&ask, &found, sizeof ask);
  if (found && isthmus_clusters() > 1) ask(channel, &comm);
  return comm;
}

/* The communicators of MPICH/MadIII ("MPICH/MadIII: a Cluster of Clusters Enabled MPI
 * Implementation", CCGrid 2003), for the channels that this process is in:
 *   MPI_COMM_NUMBER        their number, which differs by process
 *   MPI_USER_COMM[i]       the cluster's native MPI, then the grid file's, then the whole
 *   MPI_COMM_WORLD_INDEX   the index of MPI_COMM_WORLD: the last */
#define MPI_COMM_NUMBER (isthmus_user_comms_((MPI_Comm*)0))
#define MPI_COMM_WORLD_INDEX (MPI_COMM_NUMBER - 1)
#define MPI_USER_COMM (isthmus_user_comm_())

/* For this header alone: the number of these communicators, written to `comms` unless it is null.
 */
static inline int isthmus_user_comms_(MPI_Comm* comms) {
  int number = 0, channel = 0;
  if (isthmus_clusters() > 1) {
    if (comms) comms[number] = isthmus_cluster_comm();
    ++number;
  }
  for (channel = 0; channel < isthmus_channels(); ++channel) {
    const MPI_Comm comm = isthmus_channel_comm(channel);
    if (comm == MPI_COMM_NULL) continue;
    if (comms) comms[number] = comm;
    ++number;
  }
  if (comms) comms[number] = MPI_COMM_WORLD;
  return number + 1;
}

static inline const MPI_Comm* isthmus_user_comm_(void) {
  static MPI_Comm comms[64 + 2];
  isthmus_user_comms_(comms);
  return comms;
}

#ifdef __cplusplus
}
#endif

#endif
