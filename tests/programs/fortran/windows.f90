! Windows from Fortran: puts between fences, a counter under a lock, gets of a derived datatype.
program windows
  use mpi
  implicit none
  integer, parameter :: n = 1000
  integer :: rank, ranks, next, last, i, ierror, win, every_second
  ! Other ranks change these, so they are volatile for the compiler.
  integer, volatile :: counter(4)
  real(kind(1d0)), volatile :: there(n)
  integer :: counter_win, before
  real(kind(1d0)) :: mine(n), got(n / 2)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, displacement

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  next = mod(rank + 1, ranks)
  last = mod(rank + ranks - 1, ranks)

  bytes = 8 * n
  call MPI_Win_create(there, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  do i = 1, n
    mine(i) = rank * 10000 + i
  end do
  call MPI_Win_fence(0, win, ierror)
  displacement = 0
  call MPI_Put(mine, n, MPI_DOUBLE_PRECISION, next, displacement, n, MPI_DOUBLE_PRECISION, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  do i = 1, n
    call check(there(i) == last * 10000 + i, 'a put is wrong')
  end do

  call MPI_Type_vector(n / 2, 1, 2, MPI_DOUBLE_PRECISION, every_second, ierror)
  call MPI_Type_commit(every_second, ierror)
  call MPI_Get(got, n / 2, MPI_DOUBLE_PRECISION, next, displacement, 1, every_second, win, ierror)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierror)
  do i = 1, n / 2
    call check(got(i) == rank * 10000 + 2 * i - 1, 'a get is wrong')
  end do
  call MPI_Type_free(every_second, ierror)
  call MPI_Win_free(win, ierror)

  counter = 0
  bytes = 16
  call MPI_Win_create(counter, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, counter_win, ierror)
  do i = 1, 50
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, counter_win, ierror)
    call MPI_Fetch_and_op(1, before, MPI_INTEGER, 0, displacement, MPI_SUM, counter_win, ierror)
    call MPI_Win_unlock(0, counter_win, ierror)
    call check(before >= 0 .and. before < 50 * ranks, 'the counter is out of bounds')
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, counter_win, ierror)
  if (rank == 0) call check(counter(1) == 50 * ranks, 'the counter is wrong')
  call MPI_Win_unlock(rank, counter_win, ierror)
  call MPI_Win_free(counter_win, ierror)
  call MPI_Finalize(ierror)

contains

  include '../checking.inc'

end program windows
