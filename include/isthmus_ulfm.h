/* The names of ULFM, for C and C++ programs that were written for it: MPIX_Comm_revoke,
 * MPIX_ERR_PROC_FAILED and so on. They are those of isthmus.h, with every MPI library.
 *
 *     mpicc $(isthmus config --ulfm) app.c
 *
 * includes this header before the text of the program. So it serves programs that include
 * <mpi-ext.h>, which some libraries lack, and those with <mpi.h> alone (docs/surviving.md). */
#ifndef ISTHMUS_ULFM_H
#define ISTHMUS_ULFM_H

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h> /* first, as Open MPI 5 declares functions of the names below */
#endif

#include "isthmus.h"

/* Constants, as a switch needs them, wherever the library has some. */
#ifndef MPIX_ERR_PROC_FAILED
#if defined(MPI_ERR_PROC_FAILED)
#define MPIX_ERR_PROC_FAILED MPI_ERR_PROC_FAILED
#define MPIX_ERR_PROC_FAILED_PENDING MPI_ERR_PROC_FAILED_PENDING
#define MPIX_ERR_REVOKED MPI_ERR_REVOKED
#elif defined(OPEN_MPI) /* 4: Isthmus adds its classes in MPI_Init, before the program can */
#define MPIX_ERR_PROC_FAILED (MPI_ERR_LASTCODE + 1)
#define MPIX_ERR_PROC_FAILED_PENDING (MPI_ERR_LASTCODE + 2)
#define MPIX_ERR_REVOKED (MPI_ERR_LASTCODE + 3)
#else /* no constants */
#define MPIX_ERR_PROC_FAILED ISTHMUS_ERR_PROC_FAILED
#define MPIX_ERR_PROC_FAILED_PENDING ISTHMUS_ERR_PROC_FAILED_PENDING
#define MPIX_ERR_REVOKED ISTHMUS_ERR_REVOKED
#endif
#endif
#ifndef MPI_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED
#endif

#define MPIX_Comm_revoke isthmus_comm_revoke
#define MPIX_Comm_is_revoked isthmus_comm_is_revoked
#define MPIX_Comm_shrink isthmus_comm_shrink
#define MPIX_Comm_ishrink isthmus_comm_ishrink
#define MPIX_Comm_agree isthmus_comm_agree
#define MPIX_Comm_iagree isthmus_comm_iagree
#define MPIX_Comm_failure_ack isthmus_comm_failure_ack
#define MPIX_Comm_failure_get_acked isthmus_comm_failure_get_acked
#define MPIX_Comm_get_failed isthmus_comm_get_failed
#define MPIX_Comm_ack_failed isthmus_comm_ack_failed

/* The attribute of MPI_COMM_WORLD: 1 if the run goes on without clusters that fail. Open MPI 5 has
 * a key of its own. */
#ifndef MPIX_FT
#define MPIX_FT (isthmus_ulfm_key_())
#endif

static inline int isthmus_ulfm_key_(void) {
  static int key = MPI_KEYVAL_INVALID;
  static int survives = 0;
  int (*ask)(void);
  void* const found = isthmus_find_("isthmus_survival_possible");
  memcpy(&ask, &found, sizeof ask);
  if (key != MPI_KEYVAL_INVALID) return key;
  survives = found && ask() == 1;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, (void*)0);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &survives);
  return key;
}

/* Open MPI's mpi-ext.h has these for functions that not all of its releases have. */
#undef OMPI_HAVE_MPIX_COMM_GET_FAILED
#undef OMPI_HAVE_MPIX_COMM_ACK_FAILED
#undef OMPI_HAVE_MPIX_COMM_ISHRINK
#define OMPI_HAVE_MPIX_COMM_GET_FAILED 1
#define OMPI_HAVE_MPIX_COMM_ACK_FAILED 1
#define OMPI_HAVE_MPIX_COMM_ISHRINK 1

#endif
