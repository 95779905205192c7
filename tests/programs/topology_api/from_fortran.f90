! The module of isthmus.f90 tells the clusters of the grid.
include '../../../include/isthmus.f90'

program from_fortran
  use mpi
  use isthmus
  implicit none
  integer :: rank, size, ierror, cluster, members, first, i
  double precision :: latency, rate
  character(len=64) :: name

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call check(isthmus_clusters() == 2, "clusters")
  first = 0
  do cluster = 0, 1
    do i = first, first + isthmus_cluster_size(cluster) - 1
      call check(isthmus_cluster_of(i) == cluster, "cluster_of")
    end do
    first = first + isthmus_cluster_size(cluster)
  end do
  call check(first == size, "cluster_size")
  call check(isthmus_cluster_of(size) == -1, "no such rank")
  call get_environment_variable("ISTHMUS_CLUSTER", name)
  call check(isthmus_cluster_name(isthmus_cluster()) == trim(name), "name")
  call check(isthmus_link(0, 0, latency, rate) == ISTHMUS_LINK_LOCAL, "link within")
  call check(isthmus_link(0, 1, latency, rate) > 0, "link")
  call check(isthmus_link(0, 2, latency, rate) == -1, "no such link")
  call check(MPI_COMM_NUMBER() == 2, "number")
  call check(MPI_USER_COMM(MPI_COMM_WORLD_INDEX()) == MPI_COMM_WORLD, "the whole")
  call MPI_Comm_size(MPI_USER_COMM(0), members, ierror)
  call check(members == isthmus_cluster_size(isthmus_cluster()), "communicator of the cluster")
  call MPI_Barrier(MPI_USER_COMM(0), ierror)
  if (rank == 0) print *, "topology from Fortran: passed on", size, "ranks"
  call MPI_Finalize(ierror)

contains

  include '../checking.inc'

end program
