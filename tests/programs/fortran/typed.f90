! Collectives with a datatype, or a count, for each rank, in their blocking and non-blocking forms,
! from `use mpi`. Open MPI's Fortran layer knows the ranks and neighbours of one cluster alone.
! ranks: 3 4
program typed
  use mpi
  implicit none
  integer :: rank, size, ierr, i, request, ring, left, right
  integer, allocatable :: sent(:), received(:), counts(:), places(:), types(:), expected(:)
  integer :: two_in(2), two_out(2), two_counts(2), two_places(2), two_types(2)
  integer(MPI_ADDRESS_KIND) :: two_bytes(2)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  allocate(sent(size), received(size), counts(size), places(size), types(size), expected(size))
  sent = [(100 * rank + i, i = 0, size - 1)]
  expected = [(100 * i + rank, i = 0, size - 1)]
  counts = 1
  places = [(4 * i, i = 0, size - 1)]
  types = MPI_INTEGER

  received = -1
  call MPI_Alltoallw(sent, counts, places, types, received, counts, places, types, &
      MPI_COMM_WORLD, ierr)
  call expect(received, expected, 'MPI_Alltoallw')
  call MPI_Ialltoallw(sent, counts, places, types, received, counts, places, types, &
      MPI_COMM_WORLD, request, ierr)
  call ended(received, expected, 'MPI_Ialltoallw')

  ! In place the counts and datatypes of what is sent are not looked at.
  received = sent
  call MPI_Alltoallw(MPI_IN_PLACE, [0], [0], [0], received, counts, places, types, &
      MPI_COMM_WORLD, ierr)
  call expect(received, expected, 'MPI_Alltoallw in place')
  received = sent
  call MPI_Ialltoallw(MPI_IN_PLACE, [0], [0], [0], received, counts, places, types, &
      MPI_COMM_WORLD, request, ierr)
  call ended(received, expected, 'MPI_Ialltoallw in place')

  ! A count for each rank.
  places = [(i, i = 0, size - 1)]
  received = -1
  call MPI_Ialltoallv(sent, counts, places, MPI_INTEGER, received, counts, places, MPI_INTEGER, &
      MPI_COMM_WORLD, request, ierr)
  call ended(received, expected, 'MPI_Ialltoallv')
  call MPI_Iallgatherv(rank, 1, MPI_INTEGER, received, counts, places, MPI_INTEGER, &
      MPI_COMM_WORLD, request, ierr)
  call ended(received, places, 'MPI_Iallgatherv')
  call MPI_Igatherv(rank, 1, MPI_INTEGER, received, counts, places, MPI_INTEGER, size - 1, &
      MPI_COMM_WORLD, request, ierr)
  call ended(received, merge(places, -1, rank == size - 1), 'MPI_Igatherv')
  call MPI_Iscatterv(places, counts, places, MPI_INTEGER, received, 1, MPI_INTEGER, size - 1, &
      MPI_COMM_WORLD, request, ierr)
  call ended(received(:1), [rank], 'MPI_Iscatterv')
  call MPI_Ireduce_scatter(places, received, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
      request, ierr)
  call ended(received(:1), [size * rank], 'MPI_Ireduce_scatter')

  ! Neighbours: fewer than the ranks of the world, and of other clusters.
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  two_in = [left, right]
  two_out = [right, left]
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, two_in, MPI_UNWEIGHTED, 2, two_out, &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierr)
  two_counts = 1
  two_places = [0, 1]
  two_bytes = [0, 4]
  two_types = MPI_INTEGER
  two_out = [10 * rank, 10 * rank + 1]
  two_in = -1
  call MPI_Neighbor_alltoallw(two_out, two_counts, two_bytes, two_types, two_in, two_counts, &
      two_bytes, two_types, ring, ierr)
  call expect(two_in, [10 * left, 10 * right + 1], 'MPI_Neighbor_alltoallw')
  call MPI_Ineighbor_alltoallw(two_out, two_counts, two_bytes, two_types, two_in, two_counts, &
      two_bytes, two_types, ring, request, ierr)
  call ended(two_in, [10 * left, 10 * right + 1], 'MPI_Ineighbor_alltoallw')
  call MPI_Neighbor_alltoallv(two_out, two_counts, two_places, MPI_INTEGER, two_in, two_counts, &
      two_places, MPI_INTEGER, ring, ierr)
  call expect(two_in, [10 * left, 10 * right + 1], 'MPI_Neighbor_alltoallv')
  call MPI_Ineighbor_alltoallv(two_out, two_counts, two_places, MPI_INTEGER, two_in, two_counts, &
      two_places, MPI_INTEGER, ring, request, ierr)
  call ended(two_in, [10 * left, 10 * right + 1], 'MPI_Ineighbor_alltoallv')
  call MPI_Neighbor_allgatherv(rank, 1, MPI_INTEGER, two_in, two_counts, two_places, MPI_INTEGER, &
      ring, ierr)
  call expect(two_in, [left, right], 'MPI_Neighbor_allgatherv')
  call MPI_Ineighbor_allgatherv(rank, 1, MPI_INTEGER, two_in, two_counts, two_places, &
      MPI_INTEGER, ring, request, ierr)
  call ended(two_in, [left, right], 'MPI_Ineighbor_allgatherv')
  call MPI_Comm_free(ring, ierr)

  ! A communicator of one cluster or process stays the library's own.
  received = -1
  call MPI_Ialltoallw([rank], [1], [0], [MPI_INTEGER], received, [1], [0], [MPI_INTEGER], &
      MPI_COMM_SELF, request, ierr)
  call ended(received(:1), [rank], 'MPI_Ialltoallw of one process')

  call MPI_Finalize(ierr)

contains

  include '../checking.inc'

  ! Clears `come` for the next call.
  subroutine expect(come, right, what)
    integer, intent(inout), asynchronous :: come(:)
    integer, intent(in) :: right(:)
    character(len=*), intent(in) :: what
    call check(all(come == right), what)
    come = -1
  end subroutine

  subroutine ended(come, right, what)
    integer, intent(inout), asynchronous :: come(:)
    integer, intent(in) :: right(:)
    character(len=*), intent(in) :: what
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(come, right, what)
  end subroutine
end program
