include "../../../include/isthmus.f90"
include "../../../include/isthmus_ulfm.f90"
! A program written for ULFM, with its names alone. ulfm CLUSTER: it fails.
program ulfm
  use mpi
  use mpi_ext
  use isthmus, only: isthmus_cluster, isthmus_cluster_name
  implicit none
  integer :: rank, before, size, flag, failed, number, smaller, ierror
  character(len=64) :: cluster
  logical :: is_revoked
  call get_command_argument(1, cluster)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, before, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (isthmus_cluster_name(isthmus_cluster()) == cluster) stop 1
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call expect("barrier", MPIX_ERR_PROC_FAILED)
  flag = 7
  call MPIX_Comm_agree(MPI_COMM_WORLD, flag, ierror)
  call expect("agree", MPIX_ERR_PROC_FAILED)
  call MPIX_Comm_failure_ack(MPI_COMM_WORLD, ierror)
  call MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, failed, ierror)
  call MPI_Group_size(failed, number, ierror)
  call MPI_Group_free(failed, ierror)
  call MPIX_Comm_agree(MPI_COMM_WORLD, flag, ierror)
  call expect("agree later", MPI_SUCCESS)
  call MPIX_Comm_revoke(MPI_COMM_WORLD, ierror)
  call MPIX_Comm_is_revoked(MPI_COMM_WORLD, is_revoked, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call expect("barrier later", MPIX_ERR_REVOKED)
  call MPIX_Comm_shrink(MPI_COMM_WORLD, smaller, ierror)
  call expect("shrink", MPI_SUCCESS)
  call MPI_Comm_size(smaller, size, ierror)
  if (.not. is_revoked .or. number /= before - size) call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
  call MPI_Comm_rank(smaller, rank, ierror)
  if (rank == 0) print '(i0, a, i0)', size, " of ", before
  call MPI_Comm_free(smaller, ierror)
  call MPI_Finalize(ierror)
contains
  subroutine expect(what, wanted)
    character(len=*), intent(in) :: what
    integer, intent(in) :: wanted
    integer :: ignored
    if (ierror == wanted) return
    print '(2a, i0)', what, ": ", ierror
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine
end program
