! Fortran gets the attributes of the whole grid (mpif.h), also by MPI-1's function.
! ranks: 2 3
! not natively: openmpi4 (the MPI_TAG_UB of a duplicate is an address there)
program attributes_mpif_h
  implicit none
  include 'mpif.h'
  integer :: copy
  include 'attributes.inc'

  subroutine look(keyval, found, flag)
    integer, intent(in) :: keyval
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: found
    logical, intent(in) :: flag
    integer :: number
    logical :: flag_again
    call MPI_Attr_get(MPI_COMM_WORLD, keyval, number, flag_again, ierror)
    if ((flag .eqv. flag_again) .and. (.not. flag .or. number == found)) return
    write (0, *) 'MPI_Attr_get gives', number, flag_again, 'instead of', found, flag
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine look

end program attributes_mpif_h
