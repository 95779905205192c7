// Which MPI a library is, and which of Isthmus's own libraries go with it.
#pragma once

#include <string>
#include <string_view>

namespace isthmus::daemon {

/// A native MPI library that Isthmus knows how to wear.
struct MpiLibrary {
  std::string path;
  std::string abi;      ///< of the face: "ompi", "mpich" or "mpiabi"
  std::string exports;  ///< of the stub: "ompi-4.1", "ompi-5.0", "mpich-4.0", ...
};

/// Whether a library's file name is that of an MPI implementation's C library of any ABI.
bool is_mpi_library_name(std::string_view file_name);
/// The ABI that a library has by its file name, or by the name that it says it has, if Isthmus
/// knows it; else empty.
std::string abi_of(const std::string& path);

/// Reads the library. Throws Unwearable when its ABI is not one that Isthmus has a face for.
MpiLibrary identify_mpi_library(const std::string& path);

/// Folder of the stubs and faces: $ISTHMUS_LIBDIR, or where they stand beside this program.
std::string find_libdir();

/// Path of the stub for this library, having checked that its face is there as well. Throws
/// Failure that says which ABIs this Isthmus was built for.
std::string find_stub(const MpiLibrary& library, const std::string& libdir);

/// Path of what a run on one cluster preloads; empty where the library has no sessions.
std::string find_psets(const MpiLibrary& library, const std::string& libdir);

/// The library in an installation prefix, or empty. `abi` narrows the choice; empty means any.
std::string library_in_prefix(const std::string& prefix, const std::string& abi);

/// The installation prefix that a library stands in: "/usr" for /usr/lib/x86_64-linux-gnu/x.so.
std::string prefix_of_library(const std::string& path);

}  // namespace isthmus::daemon
