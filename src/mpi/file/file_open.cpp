// Opening and closing grid files.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "mpi/comm/inter.hpp"
#include "mpi/comm/lookup.hpp"
#include "mpi/file/access_mode.hpp"
#include "mpi/file/file_error.hpp"
#include "mpi/file/file_home.hpp"
#include "mpi/file/file_info.hpp"
#include "mpi/file/files_beside.hpp"
#include "mpi/file/grid_file.hpp"
#include "mpi/file/native_file.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/making/sealing.hpp"
#include "mpi/process/differences.hpp"
#include "mpi/process/error.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

constexpr const char* kOpen = "MPI_File_open";
constexpr std::size_t kMostPath = 4096;
using Text = std::array<char, kMostPath>;

std::string text_of(const Text& text) { return {text.data(), strnlen(text.data(), text.size())}; }
Text text_of(const std::string& text) {
  Text made{};
  std::copy_n(text.data(), std::min(text.size(), made.size() - 1), made.data());
  return made;
}

/// Root's item, for all members. The item holds no pointers.
template <class Item>
Item told_by(const GridFile& file, int root, Item item) {
  core::little_endian(item);
  const int code = isthmus_Bcast(&item, sizeof item, MPI_BYTE, root, file.comm);
  require_success(code, "the members could not be told of the file");
  return core::as_little_endian(item);
}

/// A communicator of the same processes for the file alone; its errors return. Not a duplicate:
/// that would call the program's attribute copy functions.
MPI_Comm same_members(MPI_Comm comm, int rank) {
  MPI_Comm made = MPI_COMM_NULL;
  const Withheld errors;
  const int code = isthmus_Comm_split(comm, 0, rank, &made);
  require_success(code, "the file has no communicator of its own");
  native.Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

/// The location of the file, decided by rank 0.
struct Plan {
  Text path;
  /// Index of the cluster, or for open_by_all the first rank there, since each run numbers clusters
  /// differently; -1: the text is the error.
  int home = 0;
  auto numbers() { return std::tie(home); }
};

/// Rank 0's plan. If neither name nor hint gives a cluster: `otherwise`, or its own cluster for -1.
template <class Otherwise>
Plan plan(const std::string& filename, MPI_Info info, Otherwise&& otherwise) {
  try {
    const FileHome home = home_of(filename, info);
    int cluster = home.cluster < 0 ? otherwise() : home.cluster;
    if (cluster < 0) cluster = static_cast<int>(grid()->cluster);
    return {.path = text_of(home.path), .home = cluster};
  } catch (const MpiError& failure) {
    return {.path = text_of(std::string(failure.what())), .home = -1};
  }
}

/// The result of the first process in the home cluster.
struct Found {
  int error = 0;  ///< an errno; the text is its sentence
  Text text{};    ///< of the shared number; and of the nonce, if any
  Text nonce{};
  auto numbers() { return std::tie(error); }
};

/// The processes of the communicator that are in the home cluster, by rank.
std::vector<int> in_home(const GridFile& file, int home) {
  std::vector<int> found;
  for (int r = 0; r < file.members->size; ++r) {
    const int node = file.members->group.node(r);
    if (static_cast<int>(grid()->world().cluster_of(node)) == home) found.push_back(r);
  }
  return found;
}

const core::Cluster& cluster_of(const GridFile& file, int rank) {
  const core::World& world = grid()->world();
  return world.clusters[world.cluster_of(file.members->group.node(rank))];
}

bool of_several_runs(const GridFile& file) { return file.members && !file.members->runs.empty(); }

/// The plan for open_by_all, on rank 0.
Plan plan_for_all(const GridFile& file, const char* filename, MPI_Info info) {
  Plan found = plan(filename, info, home_of_grid);
  if (found.home < 0) return found;
  const std::vector<int> there = in_home(file, found.home);
  if (there.empty()) {
    const std::string& name = grid()->world().clusters[static_cast<std::size_t>(found.home)].name;
    return {.path = text_of("the file is in the cluster \"" + name +
                            "\", where the communicator has no process"),
            .home = -1};
  }
  found.home = there.front();
  return found;
}

/// Throws file::Error for a wrong path if rank 0 belongs to another run: it may be another user's,
/// and must not choose among the files of this one. Called on a process of the home cluster.
void check_guests_path(const GridFile& file, const char* filename, MPI_Info info) {
  if (!cluster_of(file, 0).is_guest()) return;
  try {
    if (home_of(filename, info).path == file.paths.file.path) return;
  } catch (const MpiError& failure) {
    throw file::Error(EPERM, failure.what());
  }
  throw file::Error(EPERM, "rank 0, of another run, names the file " + file.paths.file.path +
                               ", and the first process of the file's cluster another");
}

Found open_first(GridFile& file, const char* filename, MPI_Info info) {
  Found found;
  try {
    check_guests_path(file, filename, info);
    file::Opening opening = file.paths.file;
    opening.flags |= creation_flags(file.amode);
    file::open_file(opening);
  } catch (const file::Error& error) {
    found.error = error.number;
    found.text = text_of(std::string(error.what()));
    return found;
  }
  const std::string& path = file.paths.file.path;
  found.text = text_of(shared_pointer_beside(path));
  if (hint_of(info, kShareHint) != "false")
    found.nonce = text_of(leave_nonce(split_path(path).first));
  return found;
}

void open_mine(GridFile& file, const std::vector<int>& home) {
  const bool serves = std::find(home.begin(), home.end(), file.rank) != home.end();
  if (serves && of_several_runs(file)) serve_one_file(file.members->context, file.paths);
  if (file.near) {
    file.file = file::open_here(file.paths);
    return;
  }
  // Processes of one far cluster ask different ones of the home cluster.
  const int mine = file.rank % static_cast<int>(home.size());
  const auto server =
      static_cast<core::NodeId>(file.members->group.node(home[static_cast<std::size_t>(mine)]));
  file.service =
      of_several_runs(file) ? caller_about(file.members->context, server) : file_caller(server);
  file.run(kOpen, [&] { file.file = file::open_there(file.service, file.paths); });
}

MPI_File native_handle() {
  const MPI_File handle = make_native_file();
  require(handle != MPI_FILE_NULL, MPI_ERR_OTHER, "the native MPI library has made no file handle");
  return handle;
}

void go_to_the_end(GridFile& file) {
  if ((file.amode & MPI_MODE_APPEND) == 0) return;
  std::int64_t end = 0;
  file.run(kOpen, [&] { end = file.file->size(); });
  if (file.keeper) file.run(kOpen, [&] { file.file->set_shared(end); });
  {
    const core::Lock lock(file.mutex);
    file.position = end;
  }
  meet_all(file);
}

void open_by_all(GridFile& file, const char* filename, MPI_Info info) {
  check_access_mode(file);
  const Plan where = told_by(file, 0, file.rank == 0 ? plan_for_all(file, filename, info) : Plan{});
  if (where.home < 0) throw MpiError(MPI_ERR_BAD_FILE, text_of(where.path));
  file.home = cluster_of(file, where.home).name;
  file.format = core::format_of(cluster_of(file, where.home));
  const auto cluster = grid()->world().cluster_of(file.members->group.node(where.home));
  const std::vector<int> home = in_home(file, static_cast<int>(cluster));
  file.paths.file = {.path = text_of(where.path), .flags = access_flags(file.amode)};
  file.keeper = file.rank == home.front();
  Found found;
  std::optional<Nonce> nonce;
  if (file.keeper) {
    found = open_first(file, filename, info);
    nonce.emplace(text_of(found.nonce), true);
  }
  found = told_by(file, home.front(), found);
  if (found.error != 0) throw file::Error(found.error, text_of(found.text));
  file.paths.shared = text_of(found.text);
  if (!nonce) nonce.emplace(text_of(found.nonce), false);
  file.near = grid()->world().cluster_of(grid()->node) == cluster ||
              (of_several_runs(file) ? nonce->is_own() : nonce->seen());
  if (file.keeper && file.near && (file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    file.goes.emplace(file.paths.file.path);
  }
  together(file, [&] { open_mine(file, home); });
  go_to_the_end(file);
}

/// The processes of one cluster open a file in another.
void open_elsewhere(GridFile& file, const Plan& where) {
  check_access_mode(file);
  const core::Cluster& home = grid()->world().clusters[static_cast<std::size_t>(where.home)];
  file.home = home.name;
  file.format = core::format_of(home);
  meet_difference(grid()->world().clusters[grid()->cluster], home);
  file.paths.file = {.path = text_of(where.path), .flags = access_flags(file.amode)};
  file.paths.shared =
      text_of(told_by(file, 0, text_of(shared_pointer_beside(file.paths.file.path))));
  file.keeper = file.rank == 0;
  file.service = caller_in(home);
  const auto open = [&](int more) {
    file::Paths paths = file.paths;
    paths.file.flags |= more;
    paths.goes = file.keeper && (file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0;
    file.run(kOpen, [&] { file.file = file::open_there(file.service, paths); });
  };
  together(file, [&] {
    if (file.keeper) open(creation_flags(file.amode));
  });
  together(file, [&] {
    if (!file.keeper) open(0);
  });
  go_to_the_end(file);
}

/// The location of the file of a communicator within this cluster. Empty: the native library opens
/// `name`, which then has no prefix.
std::optional<Plan> plan_within(MPI_Comm comm, std::string& name, MPI_Info info) {
  int rank = 0, size = 0, inter = 0;
  if (native.Comm_rank(comm, &rank) != MPI_SUCCESS) return std::nullopt;
  native.Comm_test_inter(comm, &inter);
  if (inter != 0) return std::nullopt;  // an error of the native library's
  native.Comm_size(comm, &size);
  const auto mine = static_cast<int>(grid()->cluster);
  Plan found = plan(name, info, [] { return -1; });
  if (found.home == mine) {
    if (const auto open = find_file_elsewhere(name)) {
      found = {.path = text_of(open->paths.file.path), .home = cluster_named(open->home)};
    }
  }
  if (size > 1) {
    int home = found.home;
    int code = isthmus_Bcast(&home, 1, MPI_INT, 0, comm);
    if (code == MPI_SUCCESS && home != mine) {
      code = isthmus_Bcast(found.path.data(), kMostPath, MPI_CHAR, 0, comm);
    }
    require_success(code, "the members could not be told of the file");
    found.home = home;
  }
  if (found.home < 0) throw MpiError(MPI_ERR_BAD_FILE, text_of(found.path));
  if (found.home != mine) return found;
  if (const FileHome home = home_of(name, info); home.cluster == mine) name = home.path;
  return std::nullopt;
}

/// Closes the file here because others failed to open it. The program gets their error.
void close_in_vain(GridFile& file) {
  if (!file.file) return;
  file.run(kOpen, [&] {
    try {
      file.file->close();
    } catch (const file::Error&) {
      file.file.reset();
    }
  });
}

/// `together`: all members have closed it. Else some may still ask others to close it, so what
/// serves these stays.
void release(GridFile& file, bool together) {
  const bool several = of_several_runs(file);
  if (file.info != MPI_INFO_NULL) native.Info_free(&file.info);
  if (several && together) end_file(file.members->context);
  file.members.reset();
  // Another run may end as soon as it has left the file.
  if (file.comm == MPI_COMM_NULL) return;
  (several && together ? isthmus_Comm_disconnect : isthmus_Comm_free)(&file.comm);
}

/// Runs `open` for the program. All processes throw, or none.
template <class Open>
void open_for(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh,
              Open&& open) {
  const auto file = std::make_shared<GridFile>();
  native.Comm_rank(comm, &file->rank);
  native.Comm_size(comm, &file->size);
  if (const auto found = shared_grid_comm(comm)) {
    file->rank = found->rank;
    file->size = found->size;
  }
  file->comm = same_members(comm, file->rank);
  file->members = shared_grid_comm(file->comm);
  file->amode = amode;
  file->name = filename;
  file->refuses_gathering = refuses_gathering(info);
  file->paths.ahead = hint_of(info, kAheadHint) != "false";
  const auto open_here = [&] {
    open(*file);
    file->handle = native_handle();
    file->info = hints_in_use(info, file->home);
    return true;
  };
  try {
    if (file->members) {
      sealed(file->members->group, file->members->context, open_here);
    } else {
      open_here();
    }
  } catch (...) {
    close_in_vain(*file);
    release(*file, false);
    throw;
  }
  enter_file(file);
  *fh = file->handle;
}

/// Opens a file for processes of this cluster alone: usually the native library does it.
int open_within(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  if (native_call() || comm == MPI_COMM_NULL || filename == nullptr || *filename == 0 ||
      fh == nullptr) {
    return parked(native.File_open, comm, filename, amode, info, fh);
  }
  *fh = MPI_FILE_NULL;  // for every opener, and after an error too
  std::string name = filename;
  std::optional<Plan> where;
  const int code = shielded_file(MPI_FILE_NULL, kOpen, [&] {
    where = plan_within(comm, name, info);
    if (!where) return;
    open_for(comm, filename, amode, info, fh,
             [&](GridFile& file) { open_elsewhere(file, *where); });
  });
  if (code != MPI_SUCCESS || where) return code;
  return parked(native.File_open, comm, name.c_str(), amode, info, fh);
}

}  // namespace

// coverage: one file for all clusters, in that of rank 0 or of the hint isthmus_home: docs/files.md
ISTHMUS_MPI(File_open)
(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  const auto found = shared_grid_comm(comm);
  if (!found) return open_within(comm, filename, amode, info, fh);
  return shielded_file(MPI_FILE_NULL, kOpen, [&] {
    require(fh != nullptr, MPI_ERR_ARG, "there is nowhere to put the file's handle");
    *fh = MPI_FILE_NULL;  // Fortran layers convert it after an error, too
    require_intracomm(*found);
    const char* const name = filename == nullptr ? "" : filename;
    open_for(comm, name, amode, info, fh, [&](GridFile& file) { open_by_all(file, name, info); });
  });
}

// coverage:
ISTHMUS_MPI(File_close)(MPI_File* fh) {
  const auto file = fh == nullptr ? nullptr : grid_file(*fh);
  if (!file) return parked(native.File_close, fh);
  constexpr const char* kClose = "MPI_File_close";
  int code = shielded_file(file->handle, kClose, [&] {
    {
      const core::Lock lock(file->mutex);
      require(file->split == nullptr, MPI_ERR_OTHER,
              "a split collective operation is under way on the file");
    }
    run_together(*file, kClose, [&] { file->file->close(); });
    together(*file, [&] {
      if (!file->keeper) return;
      remove_shared_number(*file, kClose);
      if ((file->amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
        remove_beside(*file, kClose, file->paths.file.path);
        file->goes.reset();
      }
    });
  });
  forget_file(file->handle);
  ViewOfFile view = file->view_now();
  release_view(view);
  release(*file, true);
  free_native_file(*fh);
  return code;
}

}  // namespace isthmus::face
