// The functions of include/isthmus.h about surviving; the stub hands them on to these. Handles come
// by address, in Fortran as integers. They return MPI error codes, which have been raised.
#pragma once

extern "C" {
/// 1: the run goes on without clusters that fail. 0: it does not.
int isthmus_survival_possible();
/// The error class MPIX_ERR_PROC_FAILED (0), MPIX_ERR_PROC_FAILED_PENDING (1) or MPIX_ERR_REVOKED
/// (2). After MPI_Init.
int isthmus_survival_error(int which);
int isthmus_survival_revoke(const void* comm);
int isthmus_survival_is_revoked(const void* comm, int* flag);
int isthmus_survival_shrink(const void* comm, void* newcomm);
int isthmus_survival_ishrink(const void* comm, void* newcomm, void* request);
int isthmus_survival_agree(const void* comm, int* flag);
int isthmus_survival_iagree(const void* comm, int* flag, void* request);
int isthmus_survival_failure_ack(const void* comm);
int isthmus_survival_failure_get_acked(const void* comm, void* group);
int isthmus_survival_get_failed(const void* comm, void* group);
int isthmus_survival_ack_failed(const void* comm, int wanted, int* acknowledged);

int isthmus_survival_revoke_f(int comm);
int isthmus_survival_is_revoked_f(int comm, int* flag);
int isthmus_survival_shrink_f(int comm, int* newcomm);
int isthmus_survival_ishrink_f(int comm, int* newcomm, int* request);
int isthmus_survival_agree_f(int comm, int* flag);
int isthmus_survival_iagree_f(int comm, int* flag, int* request);
int isthmus_survival_failure_ack_f(int comm);
int isthmus_survival_failure_get_acked_f(int comm, int* group);
int isthmus_survival_get_failed_f(int comm, int* group);
int isthmus_survival_ack_failed_f(int comm, int wanted, int* acknowledged);
}
