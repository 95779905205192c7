! Several duplicates of two communicators are made at once, in opposite orders. They do not wait for
! each other, though Open MPI's Fortran layer needs the handle when MPI_COMM_IDUP returns.
program idup
  use mpi
  implicit none
  integer, parameter :: copies = 3
  integer :: comms(2 * copies), requests(2 * copies), statuses(MPI_STATUS_SIZE, 2 * copies)
  integer :: ierr, i, other, rank, ranks, total

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  call MPI_COMM_DUP(MPI_COMM_WORLD, other, ierr)
  do i = 1, 2
    if (mod(rank + i, 2) == 0) then
      call duplicate(MPI_COMM_WORLD, 1, copies)
    else
      call duplicate(other, copies + 1, 2 * copies)
    end if
  end do
  call MPI_WAITALL(2 * copies, requests, statuses, ierr)
  do i = 1, 2 * copies
    call MPI_ALLREDUCE(rank, total, 1, MPI_INTEGER, MPI_SUM, comms(i), ierr)
    if (total /= ranks * (ranks - 1) / 2) then
      print *, 'rank', rank, ': the sum over duplicate', i, 'is', total
      call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
    end if
    call MPI_COMM_FREE(comms(i), ierr)
  end do
  call MPI_COMM_FREE(other, ierr)
  call MPI_FINALIZE(ierr)

contains

  subroutine duplicate(comm, first, last)
    integer, intent(in) :: comm, first, last
    integer :: copy, error
    do copy = first, last
      call MPI_COMM_IDUP(comm, comms(copy), requests(copy), error)
    end do
  end subroutine duplicate
end program idup
