! As channels.c, in Fortran.
include '../../../include/isthmus.f90'

program channels
  use mpi
  use isthmus
  implicit none
  integer :: rank, size, total, ierror, i, comm, number
  character(len=512) :: line
  character(len=64) :: found

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  write (line, "(i0)") rank
  number = merge(1, 0, isthmus_clusters() > 1)
  do i = 0, isthmus_channels() - 1
    comm = isthmus_channel_comm(i)
    if (comm == MPI_COMM_NULL) cycle
    call MPI_Comm_size(comm, size, ierror)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
    write (found, "(a, 1x, i0, 1x, i0)") isthmus_channel_name(i), size, total
    line = trim(line) // " " // trim(found)
    if (MPI_USER_COMM(number) /= comm) call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
    number = number + 1
  end do
  if (MPI_USER_COMM(MPI_COMM_WORLD_INDEX()) /= MPI_COMM_WORLD) then
    call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
  end if
  print "(a, a, i0)", trim(line), " of ", MPI_COMM_NUMBER()
  call MPI_Finalize(ierror)
end program
