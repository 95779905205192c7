// MPI-4.1 section 7.4.4: hints of communicators. The native library keeps them; one is ours.
#include "mpi/comm/comm_info.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/comm/inter.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

constexpr const char* kKey = "isthmus_coll";

}  // namespace

coll::Forced forced_by(MPI_Info info, const coll::Forced& base) {
  if (info == MPI_INFO_NULL) return base;
  Inside inside;
  std::vector<char> value(MPI_MAX_INFO_VAL + 1);
  int found = 0;
  if (native.Info_get(info, kKey, MPI_MAX_INFO_VAL, value.data(), &found) != MPI_SUCCESS) {
    return base;
  }
  if (found == 0) return base;
  try {
    return coll::parse_forced(value.data(), base);
  } catch (const std::invalid_argument& wrong) {
    throw std::invalid_argument(std::string("the info key ") + kKey + " is wrong: " + wrong.what());
  }
}

// coverage: heeds the key isthmus_coll
ISTHMUS_MPI(Comm_set_info)(MPI_Comm comm, MPI_Info info) {
  const GridCommRef found = shared_grid_comm(comm);
  if (!found) return native.Comm_set_info(comm, info);
  return shielded(comm, "MPI_Comm_set_info", [&] {
    found->forced = forced_by(info, found->forced);
    everyone(found)->forced = found->forced;
    return native.Comm_set_info(comm, info);
  });
}

}  // namespace isthmus::face
