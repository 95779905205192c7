! The attributes that Fortran gets of windows, created and allocated.
program window_attributes
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, ierror, win
  integer(kind=MPI_ADDRESS_KIND) :: bytes, base, mine
  type(c_ptr) :: memory
  real(kind(1d0)), target :: there(100)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

  bytes = 80 + 8 * rank
  call MPI_Win_create(there, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Get_address(there, mine, ierror)
  call compare(MPI_WIN_BASE, mine, 'the base of a window created')
  call compare(MPI_WIN_SIZE, bytes, 'its size')
  call compare(MPI_WIN_DISP_UNIT, 8_MPI_ADDRESS_KIND, 'its displacement unit')
  call compare(MPI_WIN_CREATE_FLAVOR, int(MPI_WIN_FLAVOR_CREATE, MPI_ADDRESS_KIND), 'its flavour')
  call MPI_Win_free(win, ierror)

  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win, ierror)
  base = transfer(memory, base)
  call compare(MPI_WIN_BASE, base, 'the base of a window allocated')
  call compare(MPI_WIN_SIZE, bytes, 'its size')
  call compare(MPI_WIN_DISP_UNIT, 4_MPI_ADDRESS_KIND, 'its displacement unit')
  call compare(MPI_WIN_CREATE_FLAVOR, int(MPI_WIN_FLAVOR_ALLOCATE, MPI_ADDRESS_KIND), 'its flavour')
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)

contains

  subroutine compare(keyval, expected, what)
    integer, intent(in) :: keyval
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: expected
    character(*), intent(in) :: what
    integer(kind=MPI_ADDRESS_KIND) :: found
    logical :: flag
    integer :: ignored
    call MPI_Win_get_attr(win, keyval, found, flag, ierror)
    if (flag .and. found == expected) return
    write (0, *) 'rank', rank, ': ', what, ' is', found, 'instead of', expected, flag
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine compare

end program window_attributes
