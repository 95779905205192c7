! Several duplicates of one communicator under way at once: Open MPI's Fortran layer reads each
! handle when MPI_COMM_IDUP returns.
program idup
  use mpi
  implicit none
  integer, parameter :: copies = 3
  integer :: comms(copies), requests(copies), statuses(MPI_STATUS_SIZE, copies)
  integer :: ierr, i, rank, ranks, total

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  do i = 1, copies
    call MPI_COMM_IDUP(MPI_COMM_WORLD, comms(i), requests(i), ierr)
  end do
  call MPI_WAITALL(copies, requests, statuses, ierr)
  do i = 1, copies
    call MPI_ALLREDUCE(rank, total, 1, MPI_INTEGER, MPI_SUM, comms(i), ierr)
    if (total /= ranks * (ranks - 1) / 2) then
      print *, 'rank', rank, ': the sum over duplicate', i, 'is', total
      call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
    end if
    call MPI_COMM_FREE(comms(i), ierr)
  end do
  call MPI_FINALIZE(ierr)
end program idup
