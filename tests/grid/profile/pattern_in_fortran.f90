! A ring of 10 messages of 100 bytes, five sums of a double, as pattern.c.
program pattern
  use mpi
  implicit none
  integer :: rank, size, i, ierr
  character :: out(100), in(100)
  double precision :: x, y
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
  out = 'x'
  do i = 1, 10
    call MPI_SENDRECV(out, 100, MPI_CHARACTER, mod(rank + 1, size), 0, in, 100, MPI_CHARACTER, &
                      mod(rank + size - 1, size), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end do
  x = 1
  do i = 1, 5
    call MPI_ALLREDUCE(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call MPI_FINALIZE(ierr)
end program pattern
