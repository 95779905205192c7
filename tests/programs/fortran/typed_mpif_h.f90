! MPI_ALLTOALLW and MPI_IALLTOALLW through mpif.h, at addresses from MPI_BOTTOM.
! ranks: 3 4
program typed_mpif_h
  implicit none
  include 'mpif.h'
  integer, parameter :: most = 16
  integer :: rank, ranks, ierr, i, request
  integer, target :: sent(most), received(most)
  integer :: counts(most), places(most), types(most), blocks(most), whole
  integer(MPI_ADDRESS_KIND) :: address

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  do i = 1, ranks
    sent(i) = 100 * rank + i - 1
    counts(i) = 1
    places(i) = 4 * (i - 1)
    types(i) = MPI_INTEGER
    ! An int of bytes may not reach from MPI_BOTTOM: the datatype has the address.
    call MPI_GET_ADDRESS(sent(i), address, ierr)
    call MPI_TYPE_CREATE_HINDEXED(1, [1], [address], MPI_INTEGER, whole, ierr)
    call MPI_TYPE_COMMIT(whole, ierr)
    blocks(i) = whole
  end do
  received = -1
  call MPI_ALLTOALLW(MPI_BOTTOM, counts, [(0, i = 1, ranks)], blocks, received, counts, places, &
      types, MPI_COMM_WORLD, ierr)
  call check('MPI_ALLTOALLW')
  received = -1
  call MPI_IALLTOALLW(sent, counts, places, types, received, counts, places, types, &
      MPI_COMM_WORLD, request, ierr)
  call MPI_WAIT(request, MPI_STATUS_IGNORE, ierr)
  call check('MPI_IALLTOALLW')
  do i = 1, ranks
    call MPI_TYPE_FREE(blocks(i), ierr)
  end do
  call MPI_FINALIZE(ierr)

contains

  subroutine check(what)
    character(*), intent(in) :: what
    do i = 1, ranks
      if (received(i) == 100 * (i - 1) + rank) cycle
      print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
      call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
    end do
  end subroutine
end program
