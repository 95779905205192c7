! Fortran gets the attributes of the whole grid (use mpi_f08).
! ranks: 2 3
! not natively: openmpi4 (the MPI_TAG_UB of a duplicate is an address there)
program attributes_f08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: copy
  include 'attributes.inc'

  subroutine look(keyval, found, flag)
    integer, intent(in) :: keyval
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: found
    logical, intent(in) :: flag
  end subroutine look

end program attributes_f08
