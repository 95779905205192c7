! The programs with_* do this, between their declarations and their own procedures: a ring, wildcard
! receive, probe, derived type, in-place allreduce, split by parity, a user operation, and a
! Cartesian grid.
  integer :: rank, ranks, ierr, i, left, right, got, expected, n
  integer :: token(1), values(2), matrix(4, 3), flat(3), total(2), coords(1), dims(1)
  logical :: periods(1), flag
  character(len=MPI_MAX_OBJECT_NAME) :: label
  integer :: label_length
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)

  ! A ring with non-blocking calls.
  token(1) = -1
  values(1) = rank
  call MPI_Irecv(token, 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, reqs(1), ierr)
  call MPI_Isend(values, 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, reqs(2), ierr)
  call MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE, ierr)
  call check(token(1) == left, 'ring')

  ! Everybody to rank 0, received by wildcard; the status must name world ranks.
  if (rank == 0) then
    expected = 0
    got = 0
    do i = 1, ranks - 1
      call MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, st, ierr)
      call MPI_Get_count(st, MPI_INTEGER, n, ierr)
      call check(n == 1, 'count of a probed message')
      call MPI_Recv(token, 1, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, st, ierr)
      call check(token(1) == source_of(st), 'source of a wildcard receive')
      got = got + token(1)
      expected = expected + i
    end do
    call check(got == expected, 'sum of wildcard receives')
  else
    values(1) = rank
    call MPI_Send(values, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, ierr)
  end if

  ! A row of a matrix (a strided type) goes round the ring and arrives contiguous.
  call MPI_Type_vector(3, 1, 4, MPI_INTEGER, column, ierr)
  call MPI_Type_commit(column, ierr)
  do i = 1, 3
    matrix(:, i) = -1
    matrix(2, i) = 100 * rank + i
  end do
  call MPI_Sendrecv(matrix(2, 1), 1, column, right, 6, flat, 3, MPI_INTEGER, left, 6, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  do i = 1, 3
    call check(flat(i) == 100 * left + i, 'strided type')
  end do
  call MPI_Type_free(column, ierr)

  ! Collectives, in place, and with an operation of our own.
  total = (/ rank, 1 /)
  call MPI_Allreduce(MPI_IN_PLACE, total, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(total(1) == ranks * (ranks - 1) / 2 .and. total(2) == ranks, 'allreduce in place')
  call MPI_Op_create(larger, .true., op, ierr)
  values = (/ rank, -rank /)
  call MPI_Allreduce(values, total, 2, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
  call check(total(1) == ranks - 1 .and. total(2) == 0, 'allreduce with a user operation')
  call MPI_Op_free(op, ierr)
  token(1) = merge(42, 0, rank == ranks - 1)
  call MPI_Bcast(token, 1, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, ierr)
  call check(token(1) == 42, 'bcast')

  ! Even and odd ranks apart: both halves span the clusters when there are four ranks.
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
  call MPI_Comm_size(half, n, ierr)
  call check(n == (ranks + 1 - mod(rank, 2)) / 2, 'size of a split')
  call MPI_Comm_set_name(half, 'half', ierr)
  call MPI_Comm_get_name(half, label, label_length, ierr)
  call check(label(1:label_length) == 'half', 'name')
  call MPI_Barrier(half, ierr)
  call MPI_Comm_free(half, ierr)

  dims(1) = ranks
  periods(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., cart, ierr)
  call MPI_Cart_coords(cart, rank, 1, coords, ierr)
  call check(coords(1) == rank, 'coordinates')
  call MPI_Cart_shift(cart, 0, 1, i, n, ierr)
  call check(i == left .and. n == right, 'shift')
  call MPI_Comm_free(cart, ierr)

  call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, st, ierr)
  call check(.not. flag, 'a message from nowhere')
  call MPI_Finalize(ierr)

contains

  subroutine check(right_so_far, what)
    logical, intent(in) :: right_so_far
    character(len=*), intent(in) :: what
    integer :: e
    if (.not. right_so_far) then
      print *, 'rank', rank, ': wrong: ', what
      call MPI_Abort(MPI_COMM_WORLD, 3, e)
    end if
  end subroutine check
