! Graphs and neighbourhood collectives from Fortran, with its own MPI_UNWEIGHTED and
! MPI_WEIGHTS_EMPTY.
! ranks: 2 5
! not natively: mpich4, which mixes up two edges between the same ranks and crashes in MPI_WEIGHTS_EMPTY
program neighbors
  use mpi
  implicit none
  integer :: rank, size, left, right, ring, graph, ierr, request, indegree, outdegree
  logical :: weighted
  integer :: sources(2), destinations(2), weights(2), no_weights(2), sent(2), received(2), empty(1)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  sources = [left, right]
  destinations = [right, left]
  sent = [10 * rank, 10 * rank + 1]

  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, destinations, &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierr)
  call MPI_Dist_graph_neighbors_count(ring, indegree, outdegree, weighted, ierr)
  call check(indegree == 2 .and. outdegree == 2 .and. .not. weighted, 'degrees of the ring')
  call MPI_Dist_graph_neighbors(ring, 2, received, MPI_UNWEIGHTED, 2, weights, MPI_UNWEIGHTED, ierr)
  call check(all(received == sources) .and. all(weights == destinations), 'neighbours')

  ! Data sent to the right arrives from the left.
  received = -1
  call MPI_Neighbor_alltoall(sent, 1, MPI_INTEGER, received, 1, MPI_INTEGER, ring, ierr)
  call check(all(received == [10 * left, 10 * right + 1]), 'alltoall')
  received = -1
  call MPI_Ineighbor_allgather(rank, 1, MPI_INTEGER, received, 1, MPI_INTEGER, ring, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check(all(received == sources), 'allgather')
  call MPI_Comm_free(ring, ierr)

  ! An edge from rank 0 to the last one, with a weight; the others have none.
  empty = 0
  no_weights = 0
  if (rank == 0) then
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [0], [1], [size - 1], [7], MPI_INFO_NULL, &
        .false., graph, ierr)
  else
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, empty, empty, empty, MPI_WEIGHTS_EMPTY, &
        MPI_INFO_NULL, .false., graph, ierr)
  end if
  sources = -1
  weights = -1
  call MPI_Dist_graph_neighbors(graph, 1, sources, weights, 1, destinations, no_weights, ierr)
  if (rank == size - 1) call check(sources(1) == 0 .and. weights(1) == 7, 'the one edge')
  call MPI_Comm_free(graph, ierr)

  if (rank == 0) print '(a,i0,a)', 'neighbors: passed on ', size, ' ranks'
  call MPI_Finalize(ierr)

contains

  include '../checking.inc'
end program
