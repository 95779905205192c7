! A representation of files that Fortran registers: integers are kept negated.
! ranks: 2 3
! not natively: openmpi4, which registers no representation
! not natively: mpich4, likewise
module negated
  use mpi
  implicit none
  integer, parameter :: given = 4711
contains
  subroutine write_negated(memory, type, count, there, position, state, ierr)
    integer :: memory(*), type, count, there(*), ierr, i
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: state
    ierr = MPI_ERR_OTHER
    if (state /= given .or. type /= MPI_INTEGER) return
    do i = 1, count
      there(i) = -memory(position + i)
    end do
    ierr = MPI_SUCCESS
  end subroutine
  subroutine read_negated(memory, type, count, there, position, state, ierr)
    integer :: memory(*), type, count, there(*), ierr, i
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: state
    ierr = MPI_ERR_OTHER
    if (state /= given .or. type /= MPI_INTEGER) return
    do i = 1, count
      memory(position + i) = -there(i)
    end do
    ierr = MPI_SUCCESS
  end subroutine
  subroutine extent_of_negated(type, extent, state, ierr)
    integer :: type, ierr
    integer(kind=MPI_ADDRESS_KIND) :: extent, lower, state
    ierr = MPI_ERR_OTHER
    if (state == given) call MPI_Type_get_extent(type, lower, extent, ierr)
  end subroutine
end module

program representations
  use negated
  implicit none
  integer :: rank, size, file, info, ierr, i, length
  integer :: mine(5), back(5), status(MPI_STATUS_SIZE)
  integer(kind=MPI_OFFSET_KIND) :: start, zero
  integer(kind=MPI_ADDRESS_KIND) :: state
  character(len=200) :: name, folder

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  if (rank == 0) then
    call get_environment_variable('TMPDIR', folder, length)
    if (length == 0) folder = '/tmp'
    call system_clock(i)
    write (name, '(a, a, i0)') trim(folder), '/isthmus-represented-', i
  end if
  call MPI_Bcast(name, 200, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  state = given
  call MPI_Register_datarep('negated', read_negated, write_negated, extent_of_negated, state, ierr)
  call check(ierr == MPI_SUCCESS, 'register')
  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'isthmus_share', 'false', ierr)
  call MPI_File_open(MPI_COMM_WORLD, trim(name), &
      MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, info, file, ierr)
  call check(ierr == MPI_SUCCESS, 'open')
  mine = [(rank * 5 + i, i = 1, 5)]
  start = 20 * rank
  zero = 0
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'negated', MPI_INFO_NULL, ierr)
  call check(ierr == MPI_SUCCESS, 'view')
  call MPI_File_write_all(file, mine, 5, MPI_INTEGER, status, ierr)
  call check(ierr == MPI_SUCCESS, 'write_all')
  call MPI_File_read_at_all(file, zero, back, 5, MPI_INTEGER, status, ierr)
  call check(ierr == MPI_SUCCESS .and. all(back == mine), 'read_at_all')
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
  call MPI_File_read_at_all(file, zero, back, 5, MPI_INTEGER, status, ierr)
  call check(all(back == -mine), 'what the file has')
  call MPI_File_close(file, ierr)
  call MPI_Info_free(info, ierr)
  call MPI_Finalize(ierr)

contains

  include '../checking.inc'
end program
