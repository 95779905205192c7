! The programs attributes* between their declarations and their own procedures.
  integer :: ranks, ierror

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierror)
  call check(MPI_TAG_UB, 32767, .true., 'MPI_TAG_UB')
  call check(MPI_UNIVERSE_SIZE, ranks, .false., 'MPI_UNIVERSE_SIZE')
  call check(MPI_WTIME_IS_GLOBAL, 0, .true., 'MPI_WTIME_IS_GLOBAL')
  call check(MPI_APPNUM, 0, .false., 'MPI_APPNUM')
  call ask(MPI_HOST)
  call ask(MPI_IO)
  call MPI_Comm_free(copy, ierror)
  call MPI_Finalize(ierror)

contains

  ! All have it, and it is the same. A duplicate has it where `copied`.
  subroutine check(keyval, least, copied, what)
    integer, intent(in) :: keyval, least
    logical, intent(in) :: copied
    character(*), intent(in) :: what
    integer(kind=MPI_ADDRESS_KIND) :: found, again, both(2), most(2)
    logical :: flag, flag_again
    integer :: ignored
    call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, found, flag, ierror)
    again = found
    flag_again = .true.
    call look(keyval, found, flag)
    if (copied) call MPI_Comm_get_attr(copy, keyval, again, flag_again, ierror)
    if (keyval == MPI_UNIVERSE_SIZE .and. .not. flag) then ! it need not be set
      flag = .true.
      found = ranks
      again = ranks
    end if
    both = [found, -found]
    if (keyval == MPI_APPNUM) both = 0 ! of each part of the command line its own
    call MPI_Allreduce(both, most, 2, MPI_AINT, MPI_MAX, MPI_COMM_WORLD, ierror)
    if (flag .and. flag_again .and. found >= least .and. again == found &
        .and. most(1) == -most(2)) return
    write (0, *) what, ' is', found, again, flag, flag_again, ', at most', most(1), -most(2)
    call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
  end subroutine check

  ! Libraries differ in their answers.
  subroutine ask(keyval)
    integer, intent(in) :: keyval
    integer(kind=MPI_ADDRESS_KIND) :: found
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, found, flag, ierror)
    if (ierror /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine ask
