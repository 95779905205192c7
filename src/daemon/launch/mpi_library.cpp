#include "daemon/launch/mpi_library.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "daemon/host/failure.hpp"
#include "daemon/launch/elf_file.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

// The marker tells libraries with the same file name apart: it is exported by that ABI's own.
struct Known {
  std::string_view file_name;
  std::string_view marker;
  std::string_view abi;
  // A function by which the newer export set is known: of it, what a library lacks is hidden
  // (preload/absent.c). MPI_Buffer_flush is of MPI 4.1.
  std::string_view newer;
  std::string_view newer_exports;
  std::string_view older_exports;
};
constexpr std::array kKnown{
    Known{"libmpi.so.40", "ompi_mpi_comm_world", "ompi", "MPI_Session_init", "ompi-5.0",
          "ompi-4.1"},
    Known{"libmpich.so.12", "MPI_Send", "mpich", "MPI_Buffer_flush", "mpich-5.0", "mpich-4.0"},
    Known{"libmpi.so.12", "MPIR_Err_return_comm", "mpich", "MPI_Buffer_flush", "mpich-5.0",
          "mpich-4.0"},
    Known{"libmpi_abi.so.1", "MPI_Send", "mpiabi", "", "mpiabi-5.0", "mpiabi-5.0"},
    Known{"libmpi_abi.so.0", "MPI_Send", "mpiabi", "", "mpiabi-5.0", "mpiabi-5.0"},
};

std::string strip_version(std::string_view file_name) {
  return std::string(file_name.substr(0, file_name.find(".so")));
}

// libmpi.so.40.30.4 is a version of libmpi.so.40.
bool is_version_of(std::string_view file_name, std::string_view known) {
  return file_name.starts_with(known) &&
         (file_name.size() == known.size() || file_name[known.size()] == '.');
}

std::string abi_by_name(std::string_view file_name) {
  for (const Known& known : kKnown) {
    if (is_version_of(file_name, known.file_name)) return std::string(known.abi);
  }
  return {};
}

std::string built_for(const std::string& libdir) {
  std::set<std::string> abis;
  std::error_code error;
  const std::string lead = "libisthmus-face-";
  for (const auto& entry : fs::directory_iterator(libdir, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(lead) && name.ends_with(".so")) {
      abis.insert(name.substr(lead.size(), name.size() - lead.size() - 3));
    }
  }
  std::string list;
  for (const std::string& abi : abis) list += (list.empty() ? "" : ", ") + abi;
  return list.empty() ? "none" : list;
}

}  // namespace

bool is_mpi_library_name(std::string_view file_name) {
  if (file_name.find(".so") == std::string_view::npos) return false;
  static const std::set<std::string> stems{"libmpi",      "libmpich",  "libmpi_abi",
                                           "libmpi_cray", "libmpi_mt", "libmpi_dbg"};
  return stems.contains(strip_version(file_name));
}

std::string abi_of(const std::string& path) {
  const std::string file_name = fs::path(path).filename().string();
  std::string abi = abi_by_name(file_name);
  if (!abi.empty()) return abi;
  const auto elf = ElfFile::open(path);
  return elf ? abi_by_name(elf->soname()) : "";
}

MpiLibrary identify_mpi_library(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  const auto elf = ElfFile::open(path);
  if (!elf) {
    throw Failure(fmt::format("the MPI library '{}' cannot be read as a shared library", path),
                  "Check its permissions and installation.");
  }
  // A copy, not a link, where files come out of a wheel: Intel MPI's libmpi.so (2026-11).
  if (abi_by_name(name).empty()) name = elf->soname();
  for (const Known& known : kKnown) {
    if (!is_version_of(name, known.file_name) || !elf->exports(known.marker)) continue;
    const bool newer = !known.newer.empty() && elf->exports(known.newer);
    return {path, std::string(known.abi),
            std::string(newer ? known.newer_exports : known.older_exports)};
  }
  throw Unwearable("the MPI library '" + path +
                       "' has an ABI that Isthmus does not know; it knows Open MPI 4 and 5 "
                       "(libmpi.so.40), MPICH 3.2 and newer and its relatives (libmpich.so.12, "
                       "libmpi.so.12) and the MPI standard's own ABI (libmpi_abi.so.1)",
                   "Build the program with one of these MPIs.");
}

std::string find_libdir() {
  if (const char* named = std::getenv("ISTHMUS_LIBDIR"); named != nullptr && *named != '\0') {
    return named;
  }
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  // Installed as PREFIX/bin/isthmusd; the build tree has its own place.
  const fs::path installed = self.parent_path().parent_path() / ISTHMUS_LIBDIR_BELOW_PREFIX;
  if (fs::is_directory(installed, error)) return installed.string();
  return ISTHMUS_BUILD_LIBDIR;
}

std::string find_stub(const MpiLibrary& library, const std::string& libdir) {
  const std::string face = libdir + "/libisthmus-face-" + library.abi + ".so";
  std::string stub = libdir + "/libisthmus-" + library.exports + ".so";
  std::error_code error;
  for (const std::string& wanted : {face, stub}) {
    if (fs::exists(wanted, error)) continue;
    throw Failure(
        fmt::format("'{}' has the ABI {} ({}), and '{}' is missing: this Isthmus was built "
                    "for: {}",
                    library.path, library.abi, library.exports, wanted, built_for(libdir)),
        "Build Isthmus with that MPI's development files, or set ISTHMUS_LIBDIR.");
  }
  return stub;
}

std::string find_psets(const MpiLibrary& library, const std::string& libdir) {
  const auto elf = ElfFile::open(library.path);
  std::string psets = libdir + "/libisthmus-psets.so";
  std::error_code error;
  return elf && elf->exports("MPI_Session_init") && fs::exists(psets, error) ? psets : "";
}

std::string library_in_prefix(const std::string& prefix, const std::string& abi) {
  std::error_code error;
  for (const Known& known : kKnown) {
    if (!abi.empty() && known.abi != abi) continue;
    for (const char* folder : {"lib", "lib64", "lib/" ISTHMUS_MULTIARCH}) {
      const fs::path path = fs::path(prefix) / folder / known.file_name;
      if (fs::exists(path, error)) return path.string();
    }
  }
  return {};
}

std::string prefix_of_library(const std::string& path) {
  std::error_code error;
  // Debian's /lib is a link to /usr/lib; a library's own link only names its version.
  fs::path folder = fs::weakly_canonical(fs::path(path).parent_path(), error);
  while (folder.has_relative_path() && folder.filename() != "lib" && folder.filename() != "lib64") {
    folder = folder.parent_path();
  }
  return folder.has_relative_path() ? folder.parent_path().string() : std::string();
}

}  // namespace isthmus::daemon
