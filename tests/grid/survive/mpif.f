! A program written for ULFM, with mpif.h and mpif-ext.h. mpif CLUSTER: it fails.
      program ulfm
      implicit none
      include 'mpif.h'
      include 'mpif-ext.h'
      integer rank, size, smaller, failed, number, flag, request, ierr
      integer length
      logical revoked
      character*(64) cluster
      character*(MPI_MAX_PROCESSOR_NAME) mine
      call get_command_argument(1, cluster)
      call get_environment_variable('ISTHMUS_CLUSTER', mine)
      call MPI_Init(ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN,
     &     ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      if (mine .eq. cluster) stop 1
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call expect('barrier', ierr, MPIX_ERR_PROC_FAILED)
      call MPIX_Comm_failure_ack(MPI_COMM_WORLD, ierr)
      call MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, failed, ierr)
      call MPI_Group_size(failed, number, ierr)
      call MPIX_Comm_get_failed(MPI_COMM_WORLD, failed, ierr)
      call MPIX_Comm_ack_failed(MPI_COMM_WORLD, number, length, ierr)
      call expect('acknowledged', length, number)
      flag = 7
      call MPIX_Comm_agree(MPI_COMM_WORLD, flag, ierr)
      call expect('agree', ierr, MPI_SUCCESS)
      call MPIX_Comm_iagree(MPI_COMM_WORLD, flag, request, ierr)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      call expect('iagree', ierr, MPI_SUCCESS)
      call expect('flag', flag, 7)
      call MPIX_Comm_revoke(MPI_COMM_WORLD, ierr)
      call MPIX_Comm_is_revoked(MPI_COMM_WORLD, revoked, ierr)
      if (.not. revoked) call expect('revoked', 0, 1)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call expect('barrier later', ierr, MPIX_ERR_REVOKED)
      call MPIX_Comm_shrink(MPI_COMM_WORLD, smaller, ierr)
      call expect('shrink', ierr, MPI_SUCCESS)
      call MPI_Comm_free(smaller, ierr)
      call MPIX_Comm_ishrink(MPI_COMM_WORLD, smaller, request, ierr)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      call expect('ishrink', ierr, MPI_SUCCESS)
      call MPI_Comm_rank(smaller, rank, ierr)
      call MPI_Comm_size(smaller, length, ierr)
      call expect('size', length, size - number)
      if (rank .eq. 0) print '(i0, a, i0)', length, ' of ', size
      call MPI_Comm_free(smaller, ierr)
      call MPI_Finalize(ierr)
      end
      subroutine expect(what, got, wanted)
      implicit none
      include 'mpif.h'
      character*(*) what
      integer got, wanted, ierr
      if (got .eq. wanted) return
      print '(2a, i0)', what, ': ', got
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      end
