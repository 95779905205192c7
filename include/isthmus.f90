! The clusters that this program runs on (docs/topology.md), and how it goes on without those that
! fail (docs/surviving.md), for Fortran: compile this file with the program. It needs nothing to link (before glibc 2.34: -ldl). Without Isthmus it reports one
! cluster, the whole of MPI_COMM_WORLD. Clusters are numbered from 0 in the order of their first
! ranks; ranks are those of MPI_COMM_WORLD. isthmus.h describes the rest. Communicators are those of
! `use mpi`; with mpi_f08, comm%MPI_VAL.
module isthmus
  use, intrinsic :: iso_c_binding
  use mpi, only: MPI_COMM_WORLD, MPI_COMM_NULL, MPI_GROUP_EMPTY, MPI_INTEGER, MPI_IN_PLACE, &
    MPI_BAND, MPI_SUCCESS, MPI_ERR_OTHER
  implicit none
  private
  public :: isthmus_clusters, isthmus_cluster, isthmus_cluster_of, isthmus_cluster_size
  public :: isthmus_cluster_name, isthmus_link, isthmus_cluster_comm
  public :: isthmus_channels, isthmus_channel_name, isthmus_channel_comm
  public :: isthmus_changes, isthmus_change
  public :: isthmus_err_proc_failed, isthmus_err_proc_failed_pending, isthmus_err_revoked
  public :: isthmus_comm_revoke, isthmus_comm_is_revoked, isthmus_comm_shrink, isthmus_comm_agree
  public :: isthmus_comm_ishrink, isthmus_comm_iagree, isthmus_comm_failure_ack
  public :: isthmus_comm_failure_get_acked, isthmus_comm_get_failed, isthmus_comm_ack_failed
  public :: MPI_COMM_NUMBER, MPI_USER_COMM, MPI_COMM_WORLD_INDEX

  integer, parameter :: unknown = -2 ! no answer of the library

  integer, parameter, public :: ISTHMUS_LINK_LOCAL = 0    ! the native MPI of a cluster
  integer, parameter, public :: ISTHMUS_LINK_DIRECT = 1   ! processes reach each other
  integer, parameter, public :: ISTHMUS_LINK_GATEWAY = 2  ! gateways forward

  integer, parameter, public :: ISTHMUS_CLUSTER_JOINED = 0 ! processes can be spawned there
  integer, parameter, public :: ISTHMUS_CLUSTER_LEFT = 1   ! they cannot any more
  integer, parameter, public :: ISTHMUS_CLUSTER_FAILED = 2 ! its processes have failed

  abstract interface
    function ask_number() bind(C)
      import :: c_int
      integer(c_int) :: ask_number
    end function
    function ask_of(number) bind(C)
      import :: c_int
      integer(c_int), value :: number
      integer(c_int) :: ask_of
    end function
    function ask_for(handle, made) bind(C)
      import :: c_int
      integer(c_int), value :: handle
      integer(c_int) :: made
      integer(c_int) :: ask_for
    end function
    function ask_for_two(handle, made, request) bind(C)
      import :: c_int
      integer(c_int), value :: handle
      integer(c_int) :: made, request
      integer(c_int) :: ask_for_two
    end function
    function ask_how_many(handle, wanted, number) bind(C)
      import :: c_int
      integer(c_int), value :: handle, wanted
      integer(c_int) :: number
      integer(c_int) :: ask_how_many
    end function
    function ask_name(number) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: number
      type(c_ptr) :: ask_name
    end function
    function ask_change(number, cluster, why) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: number
      type(c_ptr) :: cluster, why
      integer(c_int) :: ask_change
    end function
    function ask_link(a, b, latency, rate) bind(C)
      import :: c_int, c_double
      integer(c_int), value :: a, b
      real(c_double) :: latency, rate
      integer(c_int) :: ask_link
    end function
  end interface

  interface
    function c_dlopen(name, flags) bind(C, name="dlopen")
      import :: c_ptr, c_int
      type(c_ptr), value :: name
      integer(c_int), value :: flags
      type(c_ptr) :: c_dlopen
    end function
    function c_dlsym(handle, name) bind(C, name="dlsym")
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: c_dlsym
    end function
    function c_strlen(text) bind(C, name="strlen")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: c_strlen
    end function
  end interface

contains

  ! A function of the library that `isthmus run` preloads; false without Isthmus.
  logical function found(name, address)
    character(len=*), intent(in) :: name
    type(c_funptr), intent(out) :: address
    found = found_by("isthmus_topology_" // name, address)
  end function

  logical function found_by(name, address)
    character(len=*), intent(in) :: name
    type(c_funptr), intent(out) :: address
    integer(c_int), parameter :: lazy = 1
    address = c_dlsym(c_dlopen(c_null_ptr, lazy), name // c_null_char)
    found_by = c_associated(address)
  end function

  ! The answer of that function; `otherwise` without Isthmus.
  integer function number_by(question, otherwise)
    character(len=*), intent(in) :: question
    integer, intent(in) :: otherwise
    procedure(ask_number), pointer :: ask
    type(c_funptr) :: address
    number_by = otherwise
    if (.not. found(question, address)) return
    call c_f_procpointer(address, ask)
    number_by = int(ask())
  end function

  ! Its answer for a number, if there are several clusters.
  integer function number_of(question, number, otherwise)
    character(len=*), intent(in) :: question
    integer, intent(in) :: number, otherwise
    procedure(ask_of), pointer :: ask
    type(c_funptr) :: address
    number_of = otherwise
    if (isthmus_clusters() < 2 .or. .not. found(question, address)) return
    call c_f_procpointer(address, ask)
    number_of = int(ask(int(number, c_int)))
  end function

  integer function isthmus_clusters()
    isthmus_clusters = max(1, number_by("clusters", 1))
  end function

  ! The cluster of a rank; -1 for an invalid rank.
  integer function isthmus_cluster_of(rank)
    integer, intent(in) :: rank
    integer :: size, ierror
    isthmus_cluster_of = number_of("cluster_of", rank, unknown)
    if (isthmus_cluster_of /= unknown) return
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    isthmus_cluster_of = merge(0, -1, rank >= 0 .and. rank < size)
  end function

  ! The cluster of this process.
  integer function isthmus_cluster()
    integer :: rank, ierror
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    isthmus_cluster = isthmus_cluster_of(rank)
  end function

  ! The number of ranks of a cluster; -1 for an invalid cluster.
  integer function isthmus_cluster_size(cluster)
    integer, intent(in) :: cluster
    integer :: ierror
    isthmus_cluster_size = number_of("cluster_size", cluster, unknown)
    if (isthmus_cluster_size /= unknown) return
    isthmus_cluster_size = -1
    if (cluster == 0) call MPI_Comm_size(MPI_COMM_WORLD, isthmus_cluster_size, ierror)
  end function

  ! The name of a cluster in the grid file; empty without Isthmus.
  function isthmus_cluster_name(cluster) result(name)
    integer, intent(in) :: cluster
    character(len=:), allocatable :: name
    integer :: i
    if (isthmus_clusters() == 1) then ! all that a run on one cluster has is its name
      call get_environment_variable("ISTHMUS_CLUSTER", length=i)
      allocate(character(len=merge(i, 0, cluster == 0)) :: name)
      if (len(name) > 0) call get_environment_variable("ISTHMUS_CLUSTER", name)
      return
    end if
    name = name_by("cluster_name", cluster)
  end function

  ! The answer of a function with that name; empty if there is no such function.
  function name_by(question, number) result(name)
    character(len=*), intent(in) :: question
    integer, intent(in) :: number
    character(len=:), allocatable :: name
    procedure(ask_name), pointer :: ask
    type(c_funptr) :: address
    name = ""
    if (.not. found(question, address)) return
    call c_f_procpointer(address, ask)
    name = text_at(ask(int(number, c_int)))
  end function

  function text_at(start) result(text)
    type(c_ptr), intent(in) :: start
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    text = ""
    call c_f_pointer(start, letters, [c_strlen(start)])
    do i = 1, size(letters)
      text = text // letters(i)
    end do
  end function

  ! The number of changes of clusters that this process has heard of, also of those before it
  ! started.
  integer function isthmus_changes()
    isthmus_changes = number_by("changes", 0)
  end function

  ! A change, from number 0 on, its cluster and a sentence; -1 if there is none with this number.
  integer function isthmus_change(number, cluster, why)
    integer, intent(in) :: number
    character(len=:), allocatable, intent(out) :: cluster, why
    procedure(ask_change), pointer :: ask
    type(c_funptr) :: address
    type(c_ptr) :: name, sentence
    isthmus_change = -1
    cluster = ""
    why = ""
    if (.not. found("change", address)) return
    call c_f_procpointer(address, ask)
    isthmus_change = int(ask(int(number, c_int), name, sentence))
    cluster = text_at(name)
    why = text_at(sentence)
  end function

  ! The connection of two clusters, its latency one way in seconds and its rate in bytes a second
  ! (0: unknown); -1 for an invalid cluster.
  integer function isthmus_link(a, b, latency, rate)
    integer, intent(in) :: a, b
    double precision, intent(out) :: latency, rate
    procedure(ask_link), pointer :: ask
    type(c_funptr) :: address
    real(c_double) :: seconds, bytes
    latency = 0
    rate = 0
    if (isthmus_clusters() > 1 .and. found("link", address)) then
      call c_f_procpointer(address, ask)
      isthmus_link = int(ask(int(a, c_int), int(b, c_int), seconds, bytes))
      latency = seconds
      rate = bytes
      return
    end if
    isthmus_link = merge(ISTHMUS_LINK_LOCAL, -1, a == 0 .and. b == 0)
  end function

  ! The ranks of this process's cluster; without Isthmus MPI_COMM_WORLD itself. Do not free it.
  integer function isthmus_cluster_comm()
    isthmus_cluster_comm = MPI_COMM_WORLD
    if (isthmus_clusters() > 1) isthmus_cluster_comm = number_by("cluster_comm_f", MPI_COMM_WORLD)
  end function

  ! The number of channels: [channel.NAME] of the grid file; 0 without Isthmus and on one cluster.
  integer function isthmus_channels()
    isthmus_channels = 0
    if (isthmus_clusters() > 1) isthmus_channels = number_by("channels", 0)
  end function

  ! The name of a channel, from 0 on in the order of the grid file; empty for an invalid channel.
  function isthmus_channel_name(channel) result(name)
    integer, intent(in) :: channel
    character(len=:), allocatable :: name
    name = ""
    if (isthmus_channels() > 0) name = name_by("channel_name", channel)
  end function

  ! The processes of a channel; MPI_COMM_NULL if this process is not one. Do not free it.
  integer function isthmus_channel_comm(channel)
    integer, intent(in) :: channel
    isthmus_channel_comm = MPI_COMM_NULL
    if (isthmus_channels() > 0) then
      isthmus_channel_comm = number_of("channel_comm_f", channel, MPI_COMM_NULL)
    end if
  end function

  ! The communicators of MPICH/MadIII, i from 0 on: the cluster's, those of the process's channels,
  ! and the whole.
  integer function MPI_COMM_NUMBER()
    integer :: channel
    MPI_COMM_NUMBER = merge(2, 1, isthmus_clusters() > 1)
    do channel = 0, isthmus_channels() - 1
      if (isthmus_channel_comm(channel) /= MPI_COMM_NULL) MPI_COMM_NUMBER = MPI_COMM_NUMBER + 1
    end do
  end function

  integer function MPI_COMM_WORLD_INDEX()
    MPI_COMM_WORLD_INDEX = MPI_COMM_NUMBER() - 1
  end function

  integer function MPI_USER_COMM(i)
    integer, intent(in) :: i
    integer :: channel, before
    MPI_USER_COMM = MPI_COMM_WORLD
    if (i == 0) MPI_USER_COMM = isthmus_cluster_comm()
    before = 1
    do channel = 0, isthmus_channels() - 1
      if (isthmus_channel_comm(channel) == MPI_COMM_NULL) cycle
      if (i == before) MPI_USER_COMM = isthmus_channel_comm(channel)
      before = before + 1
    end do
  end function

  ! Runs that go on without clusters that fail: see isthmus.h. Without Isthmus all members are taken
  ! to be alive.

  ! A function about surviving; false without Isthmus.
  logical function survives(name, address)
    character(len=*), intent(in) :: name
    type(c_funptr), intent(out) :: address
    survives = .false.
    if (error_class(0) >= 0) survives = found_by("isthmus_survival_" // name, address)
  end function

  ! Classes of errors, after MPI_Init; -1 without Isthmus.
  integer function isthmus_err_proc_failed()
    isthmus_err_proc_failed = error_class(0)
  end function

  integer function isthmus_err_proc_failed_pending()
    isthmus_err_proc_failed_pending = error_class(1)
  end function

  integer function isthmus_err_revoked()
    isthmus_err_revoked = error_class(2)
  end function

  integer function error_class(which)
    integer, intent(in) :: which
    procedure(ask_of), pointer :: ask
    type(c_funptr) :: address
    error_class = -1
    if (.not. found_by("isthmus_survival_error", address)) return
    call c_f_procpointer(address, ask)
    error_class = int(ask(int(which, c_int)))
  end function

  subroutine isthmus_comm_revoke(comm, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: ierror
    ierror = code_of("revoke_f", comm, MPI_ERR_OTHER)
  end subroutine

  ! Calls a function with a handle; `otherwise` without Isthmus.
  integer function code_of(name, comm, otherwise)
    character(len=*), intent(in) :: name
    integer, intent(in) :: comm, otherwise
    procedure(ask_of), pointer :: ask
    type(c_funptr) :: address
    code_of = otherwise
    if (.not. survives(name, address)) return
    call c_f_procpointer(address, ask)
    code_of = int(ask(int(comm, c_int)))
  end function

  subroutine isthmus_comm_is_revoked(comm, flag, ierror)
    integer, intent(in) :: comm
    logical, intent(out) :: flag
    integer, intent(out) :: ierror
    integer :: is_so
    is_so = 0
    call ask_one("is_revoked_f", comm, is_so, ierror)
    flag = is_so /= 0
  end subroutine

  ! Calls a function with a handle, which writes `made`. Without Isthmus it leaves that alone.
  subroutine ask_one(name, comm, made, ierror)
    character(len=*), intent(in) :: name
    integer, intent(in) :: comm
    integer, intent(inout) :: made
    integer, intent(out) :: ierror
    procedure(ask_for), pointer :: ask
    type(c_funptr) :: address
    integer(c_int) :: place
    ierror = MPI_SUCCESS
    if (.not. survives(name, address)) return
    call c_f_procpointer(address, ask)
    place = int(made, c_int)
    ierror = int(ask(int(comm, c_int), place))
    made = int(place)
  end subroutine

  subroutine isthmus_comm_shrink(comm, newcomm, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: newcomm, ierror
    type(c_funptr) :: address
    newcomm = MPI_COMM_NULL
    if (survives("shrink_f", address)) then
      call ask_one("shrink_f", comm, newcomm, ierror)
    else
      call MPI_Comm_dup(comm, newcomm, ierror)
    end if
  end subroutine

  subroutine isthmus_comm_ishrink(comm, newcomm, request, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: newcomm, request, ierror
    procedure(ask_for_two), pointer :: ask
    type(c_funptr) :: address
    integer(c_int) :: made, begun
    newcomm = MPI_COMM_NULL
    if (.not. survives("ishrink_f", address)) then
      call MPI_Comm_idup(comm, newcomm, request, ierror)
      return
    end if
    call c_f_procpointer(address, ask)
    made = int(newcomm, c_int)
    ierror = int(ask(int(comm, c_int), made, begun))
    newcomm = int(made)
    request = int(begun)
  end subroutine

  subroutine isthmus_comm_agree(comm, flag, ierror)
    integer, intent(in) :: comm
    integer, intent(inout) :: flag
    integer, intent(out) :: ierror
    type(c_funptr) :: address
    integer :: all(1), mine(1)
    if (survives("agree_f", address)) then
      call ask_one("agree_f", comm, flag, ierror)
      return
    end if
    mine = flag
    call MPI_Allreduce(mine, all, 1, MPI_INTEGER, MPI_BAND, comm, ierror)
    flag = all(1)
  end subroutine

  ! `flag` is written when the request completes.
  subroutine isthmus_comm_iagree(comm, flag, request, ierror)
    integer, intent(in) :: comm
    integer(c_int), intent(inout), target, asynchronous :: flag
    integer, intent(out) :: request, ierror
    procedure(ask_for_two), pointer :: ask
    type(c_funptr) :: address
    integer(c_int) :: begun
    if (.not. survives("iagree_f", address)) then
      call MPI_Iallreduce(MPI_IN_PLACE, flag, 1, MPI_INTEGER, MPI_BAND, comm, request, ierror)
      return
    end if
    call c_f_procpointer(address, ask)
    ierror = int(ask(int(comm, c_int), flag, begun))
    request = int(begun)
  end subroutine

  subroutine isthmus_comm_failure_ack(comm, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: ierror
    ierror = code_of("failure_ack_f", comm, MPI_SUCCESS)
  end subroutine

  subroutine isthmus_comm_failure_get_acked(comm, group, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: group, ierror
    group = MPI_GROUP_EMPTY
    call ask_one("failure_get_acked_f", comm, group, ierror)
  end subroutine

  subroutine isthmus_comm_get_failed(comm, group, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: group, ierror
    group = MPI_GROUP_EMPTY
    call ask_one("get_failed_f", comm, group, ierror)
  end subroutine

  subroutine isthmus_comm_ack_failed(comm, wanted, acknowledged, ierror)
    integer, intent(in) :: comm, wanted
    integer, intent(out) :: acknowledged, ierror
    procedure(ask_how_many), pointer :: ask
    type(c_funptr) :: address
    integer(c_int) :: number
    ierror = MPI_SUCCESS
    acknowledged = 0
    if (.not. survives("ack_failed_f", address)) return
    call c_f_procpointer(address, ask)
    ierror = int(ask(int(comm, c_int), int(wanted, c_int), number))
    acknowledged = int(number)
  end subroutine

end module
