include "../../../include/isthmus.f90"
! A cluster joins the run, and another leaves it: what the ranks hear of that.
program hears
  use mpi
  use isthmus
  implicit none
  integer :: rank, ierror, i, kind
  character(len=:), allocatable :: cluster, why
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (rank == 0) print '(a)', "up"
  if (rank == 0) flush (6)
  do while (isthmus_changes() < 2)
    call sleep(1)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  do i = 0, 2
    kind = isthmus_change(i, cluster, why)
    if (rank == 0) print '(i0, 4a)', kind, " ", cluster, " ", why
  end do
  if (isthmus_changes() /= 2 .or. ISTHMUS_CLUSTER_LEFT /= 1) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Finalize(ierror)
end program
