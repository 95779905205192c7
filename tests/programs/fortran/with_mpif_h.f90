! ranks: 2 4
! Point to point, collectives and topologies (common.inc), seen through mpif.h.
program with_mpif_h
  implicit none
  include 'mpif.h'
  integer :: st(MPI_STATUS_SIZE)
  integer :: half, cart, reqs(2), op, column
  external :: larger
  include 'common.inc'

  integer function source_of(status)
    integer, intent(in) :: status(MPI_STATUS_SIZE)
    source_of = status(MPI_SOURCE)
  end function source_of

end program with_mpif_h

subroutine larger(a, b, n, datatype)
  implicit none
  integer :: n, datatype, i
  integer :: a(n), b(n)
  do i = 1, n
    b(i) = max(a(i), b(i))
  end do
end subroutine larger
