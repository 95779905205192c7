! The clusters that this program runs on, for Fortran (docs/topology.md): compile this file with the
! program. It needs nothing to link (before glibc 2.34: -ldl). Without Isthmus it reports one
! cluster, the whole of MPI_COMM_WORLD. Clusters are numbered from 0 in the order of their first
! ranks; ranks are those of MPI_COMM_WORLD. isthmus.h describes the rest. Communicators are those of
! `use mpi`; with mpi_f08, comm%MPI_VAL.
module isthmus
  use, intrinsic :: iso_c_binding
  use mpi, only: MPI_COMM_WORLD, MPI_COMM_NULL
  implicit none
  private
  public :: isthmus_clusters, isthmus_cluster, isthmus_cluster_of, isthmus_cluster_size
  public :: isthmus_cluster_name, isthmus_link, isthmus_cluster_comm
  public :: isthmus_channels, isthmus_channel_name, isthmus_channel_comm
  public :: MPI_COMM_NUMBER, MPI_USER_COMM, MPI_COMM_WORLD_INDEX

  integer, parameter, public :: ISTHMUS_LINK_LOCAL = 0    ! the native MPI of a cluster
  integer, parameter, public :: ISTHMUS_LINK_DIRECT = 1   ! processes reach each other
  integer, parameter, public :: ISTHMUS_LINK_GATEWAY = 2  ! gateways forward

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
    function ask_name(number) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: number
      type(c_ptr) :: ask_name
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
    integer(c_int), parameter :: lazy = 1
    address = c_dlsym(c_dlopen(c_null_ptr, lazy), "isthmus_topology_" // name // c_null_char)
    found = c_associated(address)
  end function

  integer function isthmus_clusters()
    procedure(ask_number), pointer :: ask
    type(c_funptr) :: address
    isthmus_clusters = 1
    if (.not. found("clusters", address)) return
    call c_f_procpointer(address, ask)
    isthmus_clusters = max(1, int(ask()))
  end function

  ! The cluster of a rank; -1 for an invalid rank.
  integer function isthmus_cluster_of(rank)
    integer, intent(in) :: rank
    procedure(ask_of), pointer :: ask
    type(c_funptr) :: address
    integer :: size, ierror
    if (isthmus_clusters() > 1 .and. found("cluster_of", address)) then
      call c_f_procpointer(address, ask)
      isthmus_cluster_of = int(ask(int(rank, c_int)))
      return
    end if
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
    procedure(ask_of), pointer :: ask
    type(c_funptr) :: address
    integer :: ierror
    if (isthmus_clusters() > 1 .and. found("cluster_size", address)) then
      call c_f_procpointer(address, ask)
      isthmus_cluster_size = int(ask(int(cluster, c_int)))
      return
    end if
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
    character(kind=c_char), pointer :: text(:)
    type(c_funptr) :: address
    type(c_ptr) :: start
    integer :: i
    name = ""
    if (.not. found(question, address)) return
    call c_f_procpointer(address, ask)
    start = ask(int(number, c_int))
    call c_f_pointer(start, text, [c_strlen(start)])
    do i = 1, size(text)
      name = name // text(i)
    end do
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
    procedure(ask_number), pointer :: ask
    type(c_funptr) :: address
    isthmus_cluster_comm = MPI_COMM_WORLD
    if (isthmus_clusters() < 2 .or. .not. found("cluster_comm_f", address)) return
    call c_f_procpointer(address, ask)
    isthmus_cluster_comm = int(ask())
  end function

  ! The number of channels: [channel.NAME] of the grid file; 0 without Isthmus and on one cluster.
  integer function isthmus_channels()
    procedure(ask_number), pointer :: ask
    type(c_funptr) :: address
    isthmus_channels = 0
    if (isthmus_clusters() < 2 .or. .not. found("channels", address)) return
    call c_f_procpointer(address, ask)
    isthmus_channels = int(ask())
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
    procedure(ask_of), pointer :: ask
    type(c_funptr) :: address
    isthmus_channel_comm = MPI_COMM_NULL
    if (isthmus_channels() == 0 .or. .not. found("channel_comm_f", address)) return
    call c_f_procpointer(address, ask)
    isthmus_channel_comm = int(ask(int(channel, c_int)))
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

end module
