! The names of ULFM, for Fortran programs that were written for it and include mpif.h and
! mpif-ext.h, in fixed or free form. Compile isthmus.f90 and isthmus_ulfm.f90 with them, which has
! the procedures (docs/surviving.md). isthmus_ulfm.f90 says where the numbers come from.
      logical ulfm_mpich
      integer ulfm_first
      parameter (ulfm_mpich = MPI_ERR_LASTCODE > 1000000)
      parameter (ulfm_first=merge(101,MPI_ERR_LASTCODE+1,ulfm_mpich))
      integer MPIX_ERR_PROC_FAILED
      integer MPIX_ERR_PROC_FAILED_PENDING
      integer MPIX_ERR_REVOKED
      parameter (MPIX_ERR_PROC_FAILED = ulfm_first)
      parameter (MPIX_ERR_PROC_FAILED_PENDING = ulfm_first + 1)
      parameter (MPIX_ERR_REVOKED = ulfm_first + 2)
      external MPIX_Comm_revoke, MPIX_Comm_is_revoked
      external MPIX_Comm_shrink, MPIX_Comm_ishrink
      external MPIX_Comm_agree, MPIX_Comm_iagree
      external MPIX_Comm_failure_ack, MPIX_Comm_failure_get_acked
      external MPIX_Comm_get_failed, MPIX_Comm_ack_failed
