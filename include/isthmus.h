/* The clusters that this program runs on (docs/topology.md), and how it goes on without those that
 * fail (docs/surviving.md), for C and C++.
 *
 * A header alone: nothing to link (before glibc 2.34: -ldl). The answers come from the library that
 * `isthmus run` preloads. Without Isthmus the same program sees one cluster, the whole of
 * MPI_COMM_WORLD. Clusters are numbered in the order of their first ranks; ranks are those of
 * MPI_COMM_WORLD. Calls about clusters are local, cheap and thread-safe, and may be made between
 * MPI_Init and MPI_Finalize. */
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

/* The changes of clusters while the program runs (docs/joining.md). */
enum {
  ISTHMUS_CLUSTER_JOINED = 0, /* a spare one: MPI_Comm_spawn can start processes there from now on */
  ISTHMUS_CLUSTER_LEFT = 1,   /* a spare one: it cannot any more */
  ISTHMUS_CLUSTER_FAILED = 2, /* its processes have failed, and the run goes on */
};

/* The number of changes that this process has heard of, also of those before it started; 0 without
 * Isthmus. The news comes to each process by itself, and some hear it earlier than others. */
static inline int isthmus_changes(void) {
  int (*ask)(void);
  void* const found = isthmus_find_("isthmus_topology_changes");
  memcpy(&ask, &found, sizeof ask);
  return found ? ask() : 0;
}

/* A change, from number 0 on: ISTHMUS_CLUSTER_..., or -1 if there is none with this number.
 * `*cluster` is the cluster's name, `*why` a sentence. Both are valid as long as the program runs;
 * either pointer may be null. */
static inline int isthmus_change(int number, const char** cluster, const char** why) {
  int (*ask)(int, const char**, const char**);
  void* const found = isthmus_find_("isthmus_topology_change");
  memcpy(&ask, &found, sizeof ask);
  if (cluster) *cluster = "";
  if (why) *why = "";
  return found ? ask(number, cluster, why) : -1;
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

/* Runs that go on without clusters that fail (`isthmus run --survive`, docs/surviving.md). These
 * have the meaning of MPIX_Comm_revoke, MPIX_Comm_shrink and so on in the forum's text on fault
 * tolerance (ULFM), with every MPI library. Without Isthmus they call Open MPI's own functions.
 * Other libraries have none that work, so all members are taken to be alive. Some wait for other
 * members, as the text says; they may be called where MPI functions may be. */

/* Classes of errors, after MPI_Init; -1 without Isthmus if the library has none. */
#define ISTHMUS_ERR_PROC_FAILED (isthmus_survival_error_(0))
#define ISTHMUS_ERR_PROC_FAILED_PENDING (isthmus_survival_error_(1))
#define ISTHMUS_ERR_REVOKED (isthmus_survival_error_(2))

/* For this header alone: a function of Open MPI, or 0. MPICH's (4.0 to 5.0) end the process
 * by an assertion. */
static inline void* isthmus_own_(const char* name) {
#ifdef OPEN_MPI
  return isthmus_find_(name);
#else
  (void)name;
  return (void*)0;
#endif
}

/* For this header alone. */
static inline int isthmus_survival_error_(int which) {
  int (*ask)(int);
  void* const found = isthmus_find_("isthmus_survival_error");
  int code = -1;
  memcpy(&ask, &found, sizeof ask);
  if (found) code = ask(which);
#if defined(MPI_ERR_PROC_FAILED) /* Open MPI 5 */
  if (code < 0) {
    const int own[3] = {MPI_ERR_PROC_FAILED, MPI_ERR_PROC_FAILED_PENDING, MPI_ERR_REVOKED};
    code = own[which];
  }
#elif defined(MPIX_ERR_PROC_FAILED) /* MPICH */
  if (code < 0) {
    const int own[3] = {MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING, MPIX_ERR_REVOKED};
    code = own[which];
  }
#endif
  return code;
}

/* No member uses the communicator any more: all that is under way on it ends with
 * ISTHMUS_ERR_REVOKED, on every member. */
static inline int isthmus_comm_revoke(MPI_Comm comm) {
  int (*ask)(const void*);
  int (*own)(MPI_Comm);
  void* found = isthmus_find_("isthmus_survival_revoke");
  memcpy(&ask, &found, sizeof ask);
  if (found) {
    const int code = ask(&comm);
    if (code >= 0) return code;
  }
  found = isthmus_own_("MPIX_Comm_revoke");
  memcpy(&own, &found, sizeof own);
  if (found) return own(comm);
  MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

/* *flag: whether a member has revoked it, as far as this one knows. */
static inline int isthmus_comm_is_revoked(MPI_Comm comm, int* flag) {
  int (*ask)(const void*, int*);
  int (*own)(MPI_Comm, int*);
  void* found = isthmus_find_("isthmus_survival_is_revoked");
  memcpy(&ask, &found, sizeof ask);
  if (found) {
    const int code = ask(&comm, flag);
    if (code >= 0) return code;
  }
  found = isthmus_own_("MPIX_Comm_is_revoked");
  memcpy(&own, &found, sizeof own);
  if (found) return own(comm, flag);
  *flag = 0;
  return MPI_SUCCESS;
}

/* *newcomm: of the members that are alive, in the same order. */
static inline int isthmus_comm_shrink(MPI_Comm comm, MPI_Comm* newcomm) {
  int (*ask)(const void*, void*);
  int (*own)(MPI_Comm, MPI_Comm*);
  void* found = isthmus_find_("isthmus_survival_shrink");
  memcpy(&ask, &found, sizeof ask);
  if (found) {
    const int code = ask(&comm, newcomm);
    if (code >= 0) return code;
  }
  found = isthmus_own_("MPIX_Comm_shrink");
  memcpy(&own, &found, sizeof own);
  return found ? own(comm, newcomm) : MPI_Comm_dup(comm, newcomm);
}

/* The same with a request: `newcomm` is there when that is complete. */
static inline int isthmus_comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  int (*ask)(const void*, void*, void*);
  int (*own)(MPI_Comm, MPI_Comm*, MPI_Request*);
  void* found = isthmus_find_("isthmus_survival_ishrink");
  memcpy(&ask, &found, sizeof ask);
  if (found) {
    const int code = ask(&comm, newcomm, request);
    if (code >= 0) return code;
  }
  found = isthmus_own_("MPIX_Comm_ishrink");
  memcpy(&own, &found, sizeof own);
  return found ? own(comm, newcomm, request) : MPI_Comm_idup(comm, newcomm, request);
}

/* *flag becomes the bitwise AND of the flags of all members that are alive; of those of the other
 * side, on an intercommunicator. It is the same on all of them, and so is the result:
 * ISTHMUS_ERR_PROC_FAILED if a member has failed and not all others have acknowledged that. */
static inline int isthmus_comm_agree(MPI_Comm comm, int* flag) {
  int (*ask)(const void*, int*);
  int (*own)(MPI_Comm, int*);
  void* found = isthmus_find_("isthmus_survival_agree");
  memcpy(&ask, &found, sizeof ask);
  if (found) {
    const int code = ask(&comm, flag);
    if (code >= 0) return code;
  }
  found = isthmus_own_("MPIX_Comm_agree");
  memcpy(&own, &found, sizeof own);
  if (found) return own(comm, flag);
  return MPI_Allreduce(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_BAND, comm);
}

static inline int isthmus_comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request) {
  int (*ask)(const void*, int*, void*);
  int (*own)(MPI_Comm, int*, MPI_Request*);
  void* found = isthmus_find_("isthmus_survival_iagree");
  memcpy(&ask, &found, sizeof ask);
  if (found) {
    const int code = ask(&comm, flag, request);
    if (code >= 0) return code;
  }
  found = isthmus_own_("MPIX_Comm_iagree");
  memcpy(&own, &found, sizeof own);
  if (found) return own(comm, flag, request);
  return MPI_Iallreduce(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_BAND, comm, request);
}

/* Acknowledges all failures of members that this process knows: receives from MPI_ANY_SOURCE work
 * again. */
static inline int isthmus_comm_failure_ack(MPI_Comm comm) {
  int (*ask)(const void*);
  int (*own)(MPI_Comm);
  void* found = isthmus_find_("isthmus_survival_failure_ack");
  memcpy(&ask, &found, sizeof ask);
  if (found) {
    const int code = ask(&comm);
    if (code >= 0) return code;
  }
  found = isthmus_own_("MPIX_Comm_failure_ack");
  memcpy(&own, &found, sizeof own);
  return found ? own(comm) : MPI_SUCCESS;
}

/* For this header alone: a function that gives a group; `name` is the library's. */
static inline int isthmus_survival_group_(const char* asked, const char* name, MPI_Comm comm,
                                          MPI_Group* group) {
  int (*ask)(const void*, void*);
  int (*own)(MPI_Comm, MPI_Group*);
  void* found = isthmus_find_(asked);
  memcpy(&ask, &found, sizeof ask);
  if (found) {
    const int code = ask(&comm, group);
    if (code >= 0) return code;
  }
  found = isthmus_own_(name);
  memcpy(&own, &found, sizeof own);
  if (found) return own(comm, group);
  *group = MPI_GROUP_EMPTY;
  return MPI_SUCCESS;
}

/* The members whose failure is acknowledged. */
static inline int isthmus_comm_failure_get_acked(MPI_Comm comm, MPI_Group* group) {
  return isthmus_survival_group_("isthmus_survival_failure_get_acked",
                                 "MPIX_Comm_failure_get_acked", comm, group);
}

/* The members that have failed, as far as this process knows, in the order of their failures. */
static inline int isthmus_comm_get_failed(MPI_Comm comm, MPI_Group* group) {
  return isthmus_survival_group_("isthmus_survival_get_failed", "MPIX_Comm_get_failed", comm,
                                 group);
}

/* Acknowledges the first `wanted` members of that group, as far as they are whole clusters.
 * *acknowledged: how many are acknowledged now. */
static inline int isthmus_comm_ack_failed(MPI_Comm comm, int wanted, int* acknowledged) {
  int (*ask)(const void*, int, int*);
  int (*own)(MPI_Comm, int, int*);
  void* found = isthmus_find_("isthmus_survival_ack_failed");
  memcpy(&ask, &found, sizeof ask);
  if (found) {
    const int code = ask(&comm, wanted, acknowledged);
    if (code >= 0) return code;
  }
  found = isthmus_own_("MPIX_Comm_ack_failed");
  memcpy(&own, &found, sizeof own);
  if (found) return own(comm, wanted, acknowledged);
  *acknowledged = 0;
  return MPI_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
