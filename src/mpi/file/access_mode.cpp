#include "mpi/file/access_mode.hpp"

#include <fcntl.h>

#include <utility>

#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

/// The same number in all libraries; their constants differ.
int common(int amode) {
  int result = 0, bit = 1;
  for (const int mode :
       {MPI_MODE_RDONLY, MPI_MODE_RDWR, MPI_MODE_WRONLY, MPI_MODE_CREATE, MPI_MODE_EXCL,
        MPI_MODE_DELETE_ON_CLOSE, MPI_MODE_UNIQUE_OPEN, MPI_MODE_SEQUENTIAL, MPI_MODE_APPEND}) {
    if ((amode & mode) != 0) result |= bit;
    bit <<= 1;
  }
  return result;
}

/// The error of an access mode; null if it is right.
const char* wrong_with(int amode) {
  const int ways = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
  if (ways != MPI_MODE_RDONLY && ways != MPI_MODE_WRONLY && ways != MPI_MODE_RDWR) {
    return "the access mode has not exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and "
           "MPI_MODE_RDWR";
  }
  if (ways == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0) {
    return "MPI_MODE_CREATE and MPI_MODE_EXCL do not go with MPI_MODE_RDONLY";
  }
  if (ways == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0) {
    return "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR";
  }
  return nullptr;
}

}  // namespace

int access_flags(int amode) {
  if ((amode & MPI_MODE_RDONLY) != 0) return O_RDONLY;
  return (amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY : O_RDWR;
}

int creation_flags(int amode) {
  return ((amode & MPI_MODE_CREATE) != 0 ? O_CREAT : 0) |
         ((amode & MPI_MODE_EXCL) != 0 ? O_EXCL : 0);
}

void check_access_mode(const GridFile& file) {
  const char* const wrong = wrong_with(file.amode);
  const auto all = tell_all(file, std::pair(common(file.amode), wrong != nullptr),
                            "the file's processes could not tell each other their access modes");
  for (const auto& [amode, bad] : all) {
    require(amode == all[0].first, MPI_ERR_NOT_SAME, "the processes give different access modes");
    if (bad) throw MpiError(MPI_ERR_AMODE, wrong != nullptr ? wrong : "a bad access mode");
  }
}

}  // namespace isthmus::face
