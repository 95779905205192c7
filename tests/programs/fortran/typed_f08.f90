! Collectives with a datatype for each rank or neighbour, seen through use mpi_f08, with and without
! the error code.
! ranks: 3 4
program typed_f08
  use mpi_f08
  implicit none
  integer :: rank, size, ierr, i
  type(MPI_Request) :: request
  type(MPI_Comm) :: ring
  type(MPI_Datatype), allocatable :: types(:)
  type(MPI_Datatype) :: two_types(2)
  integer, allocatable :: sent(:), received(:), counts(:), places(:), expected(:)
  integer, asynchronous :: two_in(2), two_out(2)
  integer :: two_counts(2)
  integer(MPI_ADDRESS_KIND) :: two_bytes(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  allocate(sent(size), received(size), counts(size), places(size), types(size), expected(size))
  sent = [(100 * rank + i, i = 0, size - 1)]
  expected = [(100 * i + rank, i = 0, size - 1)]
  counts = 1
  places = [(4 * i, i = 0, size - 1)]
  types = MPI_INTEGER

  received = -1
  call MPI_Alltoallw(sent, counts, places, types, received, counts, places, types, MPI_COMM_WORLD)
  call check(all(received == expected), 'MPI_Alltoallw')
  received = -1
  call MPI_Ialltoallw(sent, counts, places, types, received, counts, places, types, &
      MPI_COMM_WORLD, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(ierr == MPI_SUCCESS .and. all(received == expected), 'MPI_Ialltoallw')

  ! MPICH 4's layer asks Cartesian communicators for a distributed graph, natively as well.
  two_in = [modulo(rank - 1, size), modulo(rank + 1, size)]
  two_out = [two_in(2), two_in(1)]
  two_counts = 1
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, two_in, two_counts, 2, two_out, &
      two_counts, MPI_INFO_NULL, .false., ring)
  two_bytes = [0, 4]
  two_types = MPI_INTEGER
  two_out = rank
  two_in = -1
  call MPI_Neighbor_alltoallw(two_out, two_counts, two_bytes, two_types, two_in, two_counts, &
      two_bytes, two_types, ring)
  call check_ring('MPI_Neighbor_alltoallw')
  two_in = -1
  call MPI_Ineighbor_alltoallw(two_out, two_counts, two_bytes, two_types, two_in, two_counts, &
      two_bytes, two_types, ring, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check_ring('MPI_Ineighbor_alltoallw')
  call MPI_Comm_free(ring)
  call MPI_Finalize()

contains

  subroutine check_ring(what)
    character(*), intent(in) :: what
    call check(all(two_in == [modulo(rank - 1, size), modulo(rank + 1, size)]), what)
  end subroutine

  include '../checking.inc'
end program
