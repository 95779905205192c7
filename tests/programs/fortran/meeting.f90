! Sides that meet at a port, and processes that are spawned.
! ranks: 2
! not natively: mpich4, which opens no port over UCX
program meeting
  use mpi
  implicit none
  integer :: ierr, rank, size, parent

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Comm_get_parent(parent, ierr)
  if (parent /= MPI_COMM_NULL) then
    call check(size == 2, 'the children are two')
    call exchange(parent, 100 + rank, 1 - rank)
    call MPI_Comm_disconnect(parent, ierr)
  else
    call ports()
    call spawn()
  end if
  call MPI_Finalize(ierr)

contains

  include '../checking.inc'

  ! Exchanges numbers with the rank of the same number on the other side.
  subroutine exchange(inter, mine, expected)
    integer, intent(in) :: inter, mine, expected
    integer :: theirs, own, code
    theirs = -1
    call MPI_Comm_rank(inter, own, code)
    call MPI_Sendrecv(mine, 1, MPI_INTEGER, own, 5, theirs, 1, MPI_INTEGER, own, 5, inter, &
                      MPI_STATUS_IGNORE, code)
    call check(theirs == expected .or. expected < 2, 'what the other side says')
    call check(theirs /= -1, 'the other side says something')
  end subroutine

  subroutine ports()
    character(MPI_MAX_PORT_NAME) :: port, found
    integer :: inter
    port = ' '
    if (rank == 0) then
      call MPI_Open_port(MPI_INFO_NULL, port, ierr)
      call MPI_Publish_name('fortran', MPI_INFO_NULL, port, ierr)
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_Lookup_name('fortran', MPI_INFO_NULL, found, ierr)
    if (rank == 0) then
      call check(found == port, 'the published port')
      call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter, ierr)
    else
      call MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter, ierr)
    end if
    call exchange(inter, 10 + rank, 11 - rank)
    call MPI_Comm_disconnect(inter, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) then
      call MPI_Unpublish_name('fortran', MPI_INFO_NULL, port, ierr)
      call MPI_Close_port(port, ierr)
    end if
  end subroutine

  subroutine spawn()
    character(1024) :: program
    integer :: children, info, codes(2)
    call get_command_argument(0, program)
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'cluster', 'west', ierr)
    codes = -1
    call MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, info, 0, MPI_COMM_WORLD, children, codes, ierr)
    call MPI_Info_free(info, ierr)
    call check(all(codes == MPI_SUCCESS), 'the codes')
    call exchange(children, rank, 100 + rank)
    call MPI_Comm_disconnect(children, ierr)
  end subroutine
end program
