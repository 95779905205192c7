/* The functions of include/isthmus.h and its siblings, in every process with a stub; the face
 * answers. Without a grid: no clusters. */
#include <string.h>

#include "stub.h"

#define EXPORTED __attribute__((visibility("default")))

/* Its arguments are declarations. NOLINTBEGIN(bugprone-macro-parentheses) */
/* ASK(type, name, (parameters), (arguments), answer without a grid) */
#define ASK(type, name, parameters, arguments, otherwise)                 \
  EXPORTED type isthmus_topology_##name parameters;                       \
  type isthmus_topology_##name parameters {                               \
    type(*ask) parameters;                                                \
    void* const found = isthmus_face_function("isthmus_topology_" #name); \
    if (!found) return otherwise;                                         \
    memcpy(&ask, &found, sizeof ask);                                     \
    return ask arguments;                                                 \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

ASK(int, clusters, (void), (), 0)
ASK(int, cluster_of, (int rank), (rank), -1)
ASK(int, cluster_size, (int cluster), (cluster), -1)
ASK(const char*, cluster_name, (int cluster), (cluster), "")
ASK(int, link, (int a, int b, double* latency, double* rate), (a, b, latency, rate), -1)
ASK(int, cluster_comm, (void* comm), (comm), -1)
ASK(int, cluster_comm_f, (void), (), -1)
ASK(int, channels, (void), (), 0)
ASK(const char*, channel_name, (int channel), (channel), "")
ASK(int, channel_comm, (int channel, void* comm), (channel, comm), -1)
ASK(int, changes, (void), (), 0)
ASK(int, change, (int number, const char** cluster, const char** why), (number, cluster, why), -1)
ASK(int, channel_comm_f, (int channel), (channel), -1)
