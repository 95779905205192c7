! ranks: 2 4
! Point to point, collectives and topologies (common.inc), seen through use mpi_f08.
program with_mpi_f08
  use mpi_f08
  implicit none
  type(MPI_Status) :: st
  type(MPI_Comm) :: half, cart
  type(MPI_Request) :: reqs(2)
  type(MPI_Op) :: op
  type(MPI_Datatype) :: column
  include 'common.inc'

  integer function source_of(status)
    type(MPI_Status), intent(in) :: status
    source_of = status%MPI_SOURCE
  end function source_of

  subroutine larger(a, b, n, datatype)
    use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
    type(c_ptr), value :: a, b
    integer :: n, j
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:), y(:)
    call c_f_pointer(a, x, (/ n /))
    call c_f_pointer(b, y, (/ n /))
    do j = 1, n
      y(j) = max(x(j), y(j))
    end do
  end subroutine larger

end program with_mpi_f08
