! Files of two clusters from Fortran.
! ranks: 2 3
program files
  use mpi
  implicit none
  integer :: rank, size, file, info, tile, ierr, request, i, length
  integer :: mine(6), back(6), status(MPI_STATUS_SIZE)
  integer(kind=MPI_OFFSET_KIND) :: start, bytes, position
  character(len=200) :: name, folder

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  if (rank == 0) then
    call get_environment_variable('TMPDIR', folder, length)
    if (length == 0) folder = '/tmp'
    call system_clock(i)
    write (name, '(a, a, i0)') trim(folder), '/isthmus-fortran-', i
  end if
  call MPI_Bcast(name, 200, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'isthmus_share', 'false', ierr)
  call MPI_File_open(MPI_COMM_WORLD, trim(name), &
      MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, info, file, ierr)
  call check(ierr == MPI_SUCCESS, 'open')

  mine = [(rank * 6 + i, i = 1, 6)]
  call MPI_Type_vector(2, 3, 3 * size, MPI_INTEGER, tile, ierr)
  call MPI_Type_commit(tile, ierr)
  start = rank * 12
  call MPI_File_set_view(file, start, MPI_INTEGER, tile, 'native', MPI_INFO_NULL, ierr)
  call MPI_File_write_all(file, mine, 6, MPI_INTEGER, status, ierr)
  call check(ierr == MPI_SUCCESS, 'write_all')
  call MPI_File_sync(file, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_File_sync(file, ierr)
  position = 0
  call MPI_File_iread_at(file, position, back, 6, MPI_INTEGER, request, ierr)
  call MPI_Wait(request, status, ierr)
  call check(all(back == mine), 'iread_at')
  call MPI_File_get_size(file, bytes, ierr)
  call check(bytes == 24 * size, 'size')
  start = 0
  call MPI_File_set_view(file, start, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
  position = modulo(rank + 1, size) * 3
  call MPI_File_read_at(file, position, back, 3, MPI_INTEGER, status, ierr)
  call check(all(back(1:3) == [(modulo(rank + 1, size) * 6 + i, i = 1, 3)]), 'read_at')
  call MPI_File_close(file, ierr)
  call check(file == MPI_FILE_NULL, 'close')
  call MPI_File_open(MPI_COMM_WORLD, trim(name), MPI_MODE_RDONLY, info, file, ierr)
  call check(ierr /= MPI_SUCCESS, 'a file that is gone')
  call MPI_Type_free(tile, ierr)
  call MPI_Info_free(info, ierr)
  call MPI_Finalize(ierr)

contains

  include '../checking.inc'
end program
