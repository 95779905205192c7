! Intercommunicators from Fortran: made, asked, spoken over in both ways, merged.
program inter
  implicit none
  include 'mpif.h'
  integer :: rank, size, side, half, first, ierror, both, merged
  integer :: local_rank, local_size, remote_size, i, got, expected, root
  integer :: status(MPI_STATUS_SIZE)
  integer, allocatable :: values(:)
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  side = mod(rank, 2)
  call MPI_Comm_split(MPI_COMM_WORLD, side, rank, half, ierror)
  first = 1 - side
  call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first, 5, both, ierror)
  call MPI_Comm_test_inter(both, flag, ierror)
  if (.not. flag) call fail('MPI_Comm_test_inter')
  call MPI_Comm_rank(both, local_rank, ierror)
  call MPI_Comm_size(both, local_size, ierror)
  call MPI_Comm_remote_size(both, remote_size, ierror)
  if (local_size + remote_size /= size) call fail('sizes')

  ! The first of side 0 to all of side 1, and a gather back.
  root = MPI_PROC_NULL
  if (side == 1) root = 0
  if (side == 0 .and. local_rank == 0) root = MPI_ROOT
  got = -1
  if (root == MPI_ROOT) got = 77
  call MPI_Bcast(got, 1, MPI_INTEGER, root, both, ierror)
  if (side == 1 .and. got /= 77) call fail('MPI_Bcast')
  allocate(values(size))
  values = -1
  call MPI_Gather(rank, 1, MPI_INTEGER, values, 1, MPI_INTEGER, root, both, ierror)
  if (root == MPI_ROOT) then
    do i = 1, remote_size
      if (values(i) /= 2 * i - 1) call fail('MPI_Gather')
    end do
  end if
  call MPI_Allreduce(rank, got, 1, MPI_INTEGER, MPI_SUM, both, ierror)
  expected = 0
  do i = 0, size - 1
    if (mod(i, 2) /= side) expected = expected + i
  end do
  if (got /= expected) call fail('MPI_Allreduce')
  if (local_rank < remote_size) then
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, local_rank, 1, got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, &
                      both, status, ierror)
    if (status(MPI_SOURCE) /= local_rank) call fail('MPI_Sendrecv')
  end if
  call MPI_Intercomm_merge(both, side == 1, merged, ierror)
  call MPI_Comm_rank(merged, got, ierror)
  expected = local_rank
  if (side == 1) expected = local_rank + remote_size
  if (got /= expected) call fail('MPI_Intercomm_merge')
  call MPI_Comm_free(merged, ierror)
  call MPI_Comm_free(both, ierror)
  call MPI_Comm_free(half, ierror)
  if (rank == 0) print *, 'intercommunicators from Fortran: passed'
  call MPI_Finalize(ierror)

contains
  subroutine fail(what)
    character(*), intent(in) :: what
    integer :: code
    print *, 'rank', rank, ': ', what, ' is wrong'
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine fail
end program inter
