! Agreement and shrinking by the module of isthmus.f90, where nobody has failed.
include '../../../include/isthmus.f90'

program from_fortran
  use mpi
  use isthmus
  implicit none
  integer :: comm, shrunk, rank, size, ierror, flag, request, alike, group, number
  logical :: revoked

  call MPI_Init(ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_rank(comm, rank, ierror)
  flag = merge(3, 7, rank == 0)
  call isthmus_comm_agree(comm, flag, ierror)
  call check(ierror == MPI_SUCCESS .and. flag == 3, "agree")
  flag = merge(1, 5, rank == 0)
  call isthmus_comm_iagree(comm, flag, request, ierror)
  call check(ierror == MPI_SUCCESS, "iagree")
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call check(flag == 1, "its flag")
  call isthmus_comm_shrink(comm, shrunk, ierror)
  call check(ierror == MPI_SUCCESS, "shrink")
  call MPI_Comm_compare(comm, shrunk, alike, ierror)
  call check(alike == MPI_CONGRUENT, "its members")
  call MPI_Comm_free(shrunk, ierror)
  call isthmus_comm_ishrink(comm, shrunk, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Comm_compare(comm, shrunk, alike, ierror)
  call check(alike == MPI_CONGRUENT, "members of ishrink")
  call MPI_Comm_free(shrunk, ierror)
  call isthmus_comm_failure_ack(comm, ierror)
  call isthmus_comm_get_failed(comm, group, ierror)
  call MPI_Group_size(group, size, ierror)
  call check(size == 0, "failed")
  call isthmus_comm_failure_get_acked(comm, group, ierror)
  call MPI_Group_size(group, size, ierror)
  call check(size == 0, "acknowledged")
  call isthmus_comm_ack_failed(comm, 0, number, ierror)
  call check(number == 0, "number")
  call isthmus_comm_is_revoked(comm, revoked, ierror)
  call check(.not. revoked, "revoked")
  call check(isthmus_clusters() == 1 .or. isthmus_err_proc_failed() /= isthmus_err_revoked(), "classes")
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)

contains

  include '../checking.inc'

end program
