! The names of ULFM, for Fortran programs that were written for it, and `use mpi_ext` or include
! mpif-ext.h. They are those of isthmus.f90, with Open MPI 4 and MPICH. Open MPI 5 has both itself.
!
!     f=$(isthmus config --includedir)
!     mpif90 -I$f/ulfm $f/isthmus.f90 $f/isthmus_ulfm.f90 app.f90
module mpi_ext
  use mpi, only: MPI_ERR_LASTCODE
  use isthmus, only: &
    MPIX_Comm_revoke => isthmus_comm_revoke, &
    MPIX_Comm_is_revoked => isthmus_comm_is_revoked, &
    MPIX_Comm_shrink => isthmus_comm_shrink, &
    MPIX_Comm_ishrink => isthmus_comm_ishrink, &
    MPIX_Comm_agree => isthmus_comm_agree, &
    MPIX_Comm_iagree => isthmus_comm_iagree, &
    MPIX_Comm_failure_ack => isthmus_comm_failure_ack, &
    MPIX_Comm_failure_get_acked => isthmus_comm_failure_get_acked, &
    MPIX_Comm_get_failed => isthmus_comm_get_failed, &
    MPIX_Comm_ack_failed => isthmus_comm_ack_failed
  implicit none
  public
  private :: MPI_ERR_LASTCODE ! so that programs may include mpif.h, too

  ! As isthmus_ulfm.h has them: MPICH's own, or those that Isthmus adds in MPI_Init.
  logical, parameter, private :: is_mpich = MPI_ERR_LASTCODE > 1000000
  integer, parameter, private :: first = merge(101, MPI_ERR_LASTCODE + 1, is_mpich)
  integer, parameter :: MPIX_ERR_PROC_FAILED = first
  integer, parameter :: MPIX_ERR_PROC_FAILED_PENDING = first + 1
  integer, parameter :: MPIX_ERR_REVOKED = first + 2
end module

! For programs that include mpif-ext.h.
subroutine MPIX_Comm_revoke(comm, ierror)
  use isthmus, only: isthmus_comm_revoke
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: ierror
  call isthmus_comm_revoke(comm, ierror)
end subroutine

subroutine MPIX_Comm_is_revoked(comm, flag, ierror)
  use isthmus, only: isthmus_comm_is_revoked
  implicit none
  integer, intent(in) :: comm
  logical, intent(out) :: flag
  integer, intent(out) :: ierror
  call isthmus_comm_is_revoked(comm, flag, ierror)
end subroutine

subroutine MPIX_Comm_shrink(comm, newcomm, ierror)
  use isthmus, only: isthmus_comm_shrink
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: newcomm, ierror
  call isthmus_comm_shrink(comm, newcomm, ierror)
end subroutine

subroutine MPIX_Comm_ishrink(comm, newcomm, request, ierror)
  use isthmus, only: isthmus_comm_ishrink
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: newcomm, request, ierror
  call isthmus_comm_ishrink(comm, newcomm, request, ierror)
end subroutine

subroutine MPIX_Comm_agree(comm, flag, ierror)
  use isthmus, only: isthmus_comm_agree
  implicit none
  integer, intent(in) :: comm
  integer, intent(inout) :: flag
  integer, intent(out) :: ierror
  call isthmus_comm_agree(comm, flag, ierror)
end subroutine

subroutine MPIX_Comm_iagree(comm, flag, request, ierror)
  use isthmus, only: isthmus_comm_iagree
  implicit none
  integer, intent(in) :: comm
  integer, intent(inout) :: flag
  integer, intent(out) :: request, ierror
  call isthmus_comm_iagree(comm, flag, request, ierror)
end subroutine

subroutine MPIX_Comm_failure_ack(comm, ierror)
  use isthmus, only: isthmus_comm_failure_ack
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: ierror
  call isthmus_comm_failure_ack(comm, ierror)
end subroutine

subroutine MPIX_Comm_failure_get_acked(comm, group, ierror)
  use isthmus, only: isthmus_comm_failure_get_acked
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: group, ierror
  call isthmus_comm_failure_get_acked(comm, group, ierror)
end subroutine

subroutine MPIX_Comm_get_failed(comm, group, ierror)
  use isthmus, only: isthmus_comm_get_failed
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: group, ierror
  call isthmus_comm_get_failed(comm, group, ierror)
end subroutine

subroutine MPIX_Comm_ack_failed(comm, wanted, number, ierror)
  use isthmus, only: isthmus_comm_ack_failed
  implicit none
  integer, intent(in) :: comm, wanted
  integer, intent(out) :: number, ierror
  call isthmus_comm_ack_failed(comm, wanted, number, ierror)
end subroutine
