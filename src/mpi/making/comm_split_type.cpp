// MPI_Comm_split_type. Every kind of part that it makes lies within one cluster, so parts are
// native communicators. Isthmus adds the cluster as a resource of its own: MPI_COMM_TYPE_HW_GUIDED
// with the info key mpi_hw_resource_type = "cluster".
#include <array>
#include <optional>
#include <string_view>

#include "mpi/comm/inter.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/making/intercomm_split.hpp"
#include "mpi/making/making.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

constexpr const char* kResourceKey = "mpi_hw_resource_type";
constexpr const char* kCluster = "cluster";

/// Types by number: not every mpi.h that we meet names them, and Open MPI's are enumerators.
#ifdef OPEN_MPI
constexpr int kUnguided = OMPI_COMM_TYPE_CLUSTER + 1;
constexpr int kGuided = OMPI_COMM_TYPE_CLUSTER + 2;
constexpr int kResourceGuided = OMPI_COMM_TYPE_CLUSTER + 3;
constexpr int kClusterType = OMPI_COMM_TYPE_CLUSTER;
#else
constexpr int kUnguided = MPI_COMM_TYPE_HW_UNGUIDED;
constexpr int kGuided = MPI_COMM_TYPE_HW_GUIDED;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
constexpr int kResourceGuided = MPI_COMM_TYPE_RESOURCE_GUIDED;
#else
constexpr int kResourceGuided = kGuided;
#endif
constexpr int kClusterType = kGuided;  // no type of its own
#endif

enum Kind : int { kNothing = 0, kNative = 1, kWholeCluster = 2 };

bool names_cluster(MPI_Info info) {
  if (info == MPI_INFO_NULL) return false;
  std::array<char, 64> value{};
  int found = 0;
  const int code =
      native.Info_get(info, kResourceKey, static_cast<int>(value.size()) - 1, value.data(), &found);
  return code == MPI_SUCCESS && found != 0 && std::string_view(value.data()) == kCluster;
}

Kind kind_of(int type, MPI_Info info, bool spans_clusters) {
  if (type == MPI_UNDEFINED) return kNothing;
  if (type == kUnguided) return spans_clusters ? kWholeCluster : kNative;
  if (type == kGuided || type == kResourceGuided) {
    return names_cluster(info) ? kWholeCluster : kNative;
  }
  return kClusterType != kGuided && type == kClusterType ? kWholeCluster : kNative;
}

/// The kind that the members in this cluster ask for. Throws if they differ.
Kind agreed_kind(MPI_Comm comm, Kind mine) {
  const auto kinds =
      local_extremes(comm, mine == kNothing ? std::nullopt : std::optional<int>(mine));
  if (!kinds) return kNothing;
  if (kinds->least != kinds->most) {
    throw MpiError(MPI_ERR_ARG, "ranks of one cluster gave different split types");
  }
  return static_cast<Kind>(kinds->most);
}

int split_by_type(MPI_Comm comm, int type, int key, MPI_Info info, bool spans_clusters,
                  MPI_Comm* newcomm) {
  const Kind mine = kind_of(type, info, spans_clusters);
  const Kind kind = agreed_kind(comm, mine);
  const Inside inside;
  const NativeCreation creation;
  if (kind == kNative) return parked(native.Comm_split_type, comm, type, key, info, newcomm);
  const int colour = mine == kNothing ? MPI_UNDEFINED : 0;
  const int code = parked(native.Comm_split, comm, colour, key, newcomm);
  if (code == MPI_SUCCESS && type == kUnguided && info != MPI_INFO_NULL) {
    native.Info_set(info, kResourceKey, kCluster);
  }
  return code;
}

/// For an intercommunicator: the first member of a part names the members of both sides in it.
int split_intercomm_by_type(const GridCommRef& parent, int type, int key, MPI_Info info,
                            MPI_Comm* newcomm) {
  MPI_Comm part = MPI_COMM_NULL;
  const int code = split_by_type(parent->native, type, 0, info, true, &part);
  if (code != MPI_SUCCESS) return code;
  int colour = MPI_UNDEFINED;
  if (part != MPI_COMM_NULL) {
    const Inside inside;
    colour = everyone(parent)->rank;
    const int told = parked(native.Bcast, &colour, 1, MPI_INT, 0, part);
    native.Comm_free(&part);
    if (told != MPI_SUCCESS) return told;
  }
  return split_intercomm(parent, colour, key, newcomm);
}

}  // namespace

// coverage: parts lie within clusters; mpi_hw_resource_type = "cluster" gives the whole cluster
ISTHMUS_MPI(Comm_split_type)
(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  if (native_call() || comm == MPI_COMM_NULL || newcomm == nullptr) {
    return parked(native.Comm_split_type, comm, split_type, key, info, newcomm);
  }
  int inter = 0;
  if (const int code = native.Comm_test_inter(comm, &inter); code != MPI_SUCCESS) return code;
  if (inter != 0) return parked(native.Comm_split_type, comm, split_type, key, info, newcomm);
  const GridCommRef parent = share_comm(comm);
  return shielded(comm, "MPI_Comm_split_type", [&] {
    if (parent && parent->inter) {
      return split_intercomm_by_type(parent, split_type, key, info, newcomm);
    }
    return settled(split_by_type(comm, split_type, key, info, parent != nullptr, newcomm));
  });
}

}  // namespace isthmus::face
