// Collectives of grid communicators that come from Fortran, in place of those functions of Open
// MPI's Fortran layer that cannot serve them (src/preload/fortran_collectives.c).
#include "mpi/native/native.hpp"
#ifdef OPEN_MPI

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/comm/lookup.hpp"
#include "mpi/native/face.hpp"
#include "mpi/topology/neighbors.hpp"

// These have counts or datatypes for each rank. Open MPI 4 has persistent ones under other names,
// which serve its own communicators alone.
#define ISTHMUS_IN_FOUR(each)                                                                 \
  each(Alltoallw) each(Neighbor_allgatherv) each(Neighbor_alltoallv) each(Neighbor_alltoallw) \
      each(Iallgatherv) each(Ialltoallv) each(Ialltoallw) each(Igatherv) each(Iscatterv)      \
          each(Ireduce_scatter) each(Ineighbor_allgatherv) each(Ineighbor_alltoallv)          \
              each(Ineighbor_alltoallw)
#if OMPI_MAJOR_VERSION >= 5
#define ISTHMUS_COLLECTIVES(each)                                                    \
  ISTHMUS_IN_FOUR(each)                                                              \
  each(Allgatherv_init) each(Alltoallv_init) each(Alltoallw_init) each(Gatherv_init) \
      each(Scatterv_init) each(Reduce_scatter_init) each(Neighbor_allgatherv_init)   \
          each(Neighbor_alltoallv_init) each(Neighbor_alltoallw_init)
#else
#define ISTHMUS_COLLECTIVES(each) ISTHMUS_IN_FOUR(each)
#endif

// The entries of C.
#define ISTHMUS_ENTRY(name)                       \
  extern "C" decltype(MPI_##name) isthmus_##name; \
  extern "C" decltype(MPI_##name) isthmus_profiled_##name;
ISTHMUS_COLLECTIVES(ISTHMUS_ENTRY)

// The variables by whose addresses Fortran means MPI_BOTTOM and MPI_IN_PLACE, as compilers spell
// them.
#define ISTHMUS_VARIABLE(name) extern "C" __attribute__((weak)) char name

ISTHMUS_VARIABLE(mpi_fortran_bottom);
ISTHMUS_VARIABLE(mpi_fortran_bottom_);
ISTHMUS_VARIABLE(mpi_fortran_bottom__);
ISTHMUS_VARIABLE(MPI_FORTRAN_BOTTOM);
ISTHMUS_VARIABLE(mpi_fortran_in_place);
ISTHMUS_VARIABLE(mpi_fortran_in_place_);
ISTHMUS_VARIABLE(mpi_fortran_in_place__);
ISTHMUS_VARIABLE(MPI_FORTRAN_IN_PLACE);

extern "C" int isthmus_fortran_collective(const char* function, void* const* arguments);

namespace isthmus::face {
namespace {

static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of counts are those of C");

MPI_Fint integer(const void* address) { return *static_cast<const MPI_Fint*>(address); }

bool is_one_of(const void* address, std::initializer_list<const char*> variables) {
  if (address == nullptr) return false;
  return std::find(variables.begin(), variables.end(), address) != variables.end();
}

void* buffer(void* address) {
  if (is_one_of(address, {&mpi_fortran_in_place, &mpi_fortran_in_place_, &mpi_fortran_in_place__,
                          &MPI_FORTRAN_IN_PLACE})) {
    return MPI_IN_PLACE;
  }
  if (is_one_of(address, {&mpi_fortran_bottom, &mpi_fortran_bottom_, &mpi_fortran_bottom__,
                          &MPI_FORTRAN_BOTTOM})) {
    return MPI_BOTTOM;
  }
  return address;
}

/// The arguments of one call, turned into those of C.
class Arguments {
 public:
  /// `blocks`: the number of datatypes in each array of datatypes.
  Arguments(void* const* given, std::vector<int> blocks)
      : given_(given), blocks_(std::move(blocks)) {}

  /// The next one; the order is C's. Handles in arrays stay as long as this.
  template <class T>
  T next() {
    void* const address = *given_++;
    if constexpr (std::is_same_v<T, int>) {
      return integer(address);
    } else if constexpr (std::is_same_v<T, MPI_Datatype>) {
      return native.Type_f2c(integer(address));
    } else if constexpr (std::is_same_v<T, MPI_Op>) {
      return native.Op_f2c(integer(address));
    } else if constexpr (std::is_same_v<T, MPI_Comm>) {
      return native.Comm_f2c(integer(address));
    } else if constexpr (std::is_same_v<T, MPI_Info>) {
      return native.Info_f2c(integer(address));
    } else if constexpr (std::is_same_v<T, const MPI_Datatype*>) {
      return datatypes(static_cast<const MPI_Fint*>(address));
    } else if constexpr (std::is_same_v<T, MPI_Request*>) {
      request_ = static_cast<MPI_Fint*>(address);
      return &made_;
    } else if constexpr (std::is_same_v<T, const void*> || std::is_same_v<T, void*>) {
      return buffer(address);
    } else {
      return static_cast<T>(address);
    }
  }

  /// After the call; the next argument is the address of the error code, which mpi_f08 may leave
  /// out.
  void give_back(int code) {
    if (code == MPI_SUCCESS && request_ != nullptr) *request_ = native.Request_c2f(made_);
    if (*given_ != nullptr) *static_cast<MPI_Fint*>(*given_) = code;
  }

 private:
  const MPI_Datatype* datatypes(const MPI_Fint* handles) {
    std::vector<MPI_Datatype>& all = datatypes_.emplace_back();
    const int count = blocks_[datatypes_.size() - 1];
    for (int i = 0; i < count; ++i) all.push_back(native.Type_f2c(handles[i]));
    return all.data();
  }

  void* const* given_;
  std::vector<int> blocks_;
  std::deque<std::vector<MPI_Datatype>> datatypes_;
  MPI_Request made_ = MPI_REQUEST_NULL;
  MPI_Fint* request_ = nullptr;
};

/// The numbers of blocks that go out and come in. Blocks that go out in place have no datatypes.
std::vector<int> blocks_of(const GridComm& comm, bool neighborhood, const void* sendbuf) {
  if (!neighborhood) return {sendbuf == MPI_IN_PLACE ? 0 : comm.size, comm.size};
  if (!comm.topology) return {0, 0};  // the call reports that
  const Neighbors neighbors = neighbors_of(comm);
  return {static_cast<int>(neighbors.destinations.size()),
          static_cast<int>(neighbors.sources.size())};
}

template <class... All>
constexpr std::size_t place_of_comm() {
  constexpr bool is_comm[] = {std::is_same_v<All, MPI_Comm>...};
  return static_cast<std::size_t>(std::find(std::begin(is_comm), std::end(is_comm), true) -
                                  is_comm);
}

/// Whether the call was about a grid communicator; then it has been done.
template <class... All>
bool call(int (*entry)(All...), void* const* given, bool neighborhood) {
  const GridCommRef comm =
      shared_grid_comm(native.Comm_f2c(integer(given[place_of_comm<All...>()])));
  if (!comm) return false;
  Arguments arguments(given, blocks_of(*comm, neighborhood, buffer(given[0])));
  const std::tuple<All...> all{arguments.next<All>()...};  // from left to right
  arguments.give_back(std::apply(entry, all));
  return true;
}

}  // namespace
}  // namespace isthmus::face

int isthmus_fortran_collective(const char* function, void* const* arguments) {
  using namespace isthmus::face;
  const bool neighborhood = std::strstr(function, "eighbor") != nullptr;
#define ISTHMUS_CALL(name)                                                     \
  if (std::strcmp(function, #name) == 0) {                                     \
    auto* const entry = profiles() ? isthmus_profiled_##name : isthmus_##name; \
    return call(entry, arguments, neighborhood) ? 1 : 0;                       \
  }
  ISTHMUS_COLLECTIVES(ISTHMUS_CALL)
  return 0;
}
#endif
