/* The functions of include/isthmus.h and its siblings about surviving, in every process with a
 * stub; the face does the work. Without a grid: -1, so that the caller turns to the MPI library. */
#include <string.h>

#include "stub.h"

#define EXPORTED __attribute__((visibility("default")))

/* Its arguments are declarations. NOLINTBEGIN(bugprone-macro-parentheses) */
#define HAND_ON(name, parameters, arguments)                              \
  EXPORTED int isthmus_survival_##name parameters;                        \
  int isthmus_survival_##name parameters {                                \
    int(*to) parameters;                                                  \
    void* const found = isthmus_face_function("isthmus_survival_" #name); \
    if (!found) return -1;                                                \
    memcpy(&to, &found, sizeof to);                                       \
    return to arguments;                                                  \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

HAND_ON(possible, (void), ())
HAND_ON(error, (int which), (which))
HAND_ON(revoke, (const void* comm), (comm))
HAND_ON(is_revoked, (const void* comm, int* flag), (comm, flag))
HAND_ON(shrink, (const void* comm, void* newcomm), (comm, newcomm))
HAND_ON(ishrink, (const void* comm, void* newcomm, void* request), (comm, newcomm, request))
HAND_ON(agree, (const void* comm, int* flag), (comm, flag))
HAND_ON(iagree, (const void* comm, int* flag, void* request), (comm, flag, request))
HAND_ON(failure_ack, (const void* comm), (comm))
HAND_ON(failure_get_acked, (const void* comm, void* group), (comm, group))
HAND_ON(get_failed, (const void* comm, void* group), (comm, group))
HAND_ON(ack_failed, (const void* comm, int wanted, int* acknowledged), (comm, wanted, acknowledged))
HAND_ON(revoke_f, (int comm), (comm))
HAND_ON(is_revoked_f, (int comm, int* flag), (comm, flag))
HAND_ON(shrink_f, (int comm, int* newcomm), (comm, newcomm))
HAND_ON(ishrink_f, (int comm, int* newcomm, int* request), (comm, newcomm, request))
HAND_ON(agree_f, (int comm, int* flag), (comm, flag))
HAND_ON(iagree_f, (int comm, int* flag, int* request), (comm, flag, request))
HAND_ON(failure_ack_f, (int comm), (comm))
HAND_ON(failure_get_acked_f, (int comm, int* group), (comm, group))
HAND_ON(get_failed_f, (int comm, int* group), (comm, group))
HAND_ON(ack_failed_f, (int comm, int wanted, int* acknowledged), (comm, wanted, acknowledged))
