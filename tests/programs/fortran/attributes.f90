! Fortran gets the attributes of the whole grid (use mpi).
! ranks: 2 3
! not natively: openmpi4 (the MPI_TAG_UB of a duplicate is an address there)
program attributes
  use mpi
  implicit none
  integer :: copy
  include 'attributes.inc'

  subroutine look(keyval, found, flag)
    integer, intent(in) :: keyval
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: found
    logical, intent(in) :: flag
  end subroutine look

end program attributes
