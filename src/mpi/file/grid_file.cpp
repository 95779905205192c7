#include "mpi/file/grid_file.hpp"

#include <unistd.h>

#include <unordered_map>

#include "file/error.hpp"
#include "mpi/file/told_error.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/process/files_left_open.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/whence.hpp"

namespace isthmus::face {
namespace {

struct Table {
  core::Mutex mutex;
  std::unordered_map<std::uintptr_t, GridFileRef> files GUARDED_BY(mutex);
};
Table& table() {
  static auto* const all = new Table;  // never destroyed
  return *all;
}
std::atomic<int> open_files{0};

constexpr const char* kFinalize = "MPI_Finalize";

std::vector<GridFileRef> all_open() {
  const core::Lock lock(table().mutex);
  std::vector<GridFileRef> all;
  for (const auto& [handle, file] : table().files) all.push_back(file);
  return all;
}

/// Programs should close their files. If they do not, no file may lack written data.
class LeftOpen final : public FilesLeftOpen {
 public:
  void settle() override {
    for (const GridFileRef& file : all_open()) {
      // Another run may have ended, and answers no more.
      if (file->members && !file->members->runs.empty()) continue;
      try {
        file->run(kFinalize, [&] { file->file->settle(); });
      } catch (const file::Error& error) {
        tell(*file, error.what());
      }
    }
  }
  void tidy() override {
    for (const GridFileRef& file : all_open()) {
      if (file->keeper && file->near) remove_shared_number(*file, kFinalize);
    }
  }

 private:
  static void tell(const GridFile& file, const std::string& why) {
    const std::string line = "isthmus: rank " + std::to_string(grid()->world_rank) + ": " +
                             file.name + " lacks data, and the program has not closed it: " + why +
                             ". MPI_File_close raises such errors.\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  }
};

}  // namespace

GridFileRef find_file(MPI_File handle) {
  if (open_files.load(std::memory_order_acquire) == 0) return nullptr;
  const core::Lock lock(table().mutex);
  const auto found = table().files.find(key(handle));
  return found == table().files.end() ? nullptr : found->second;
}

void enter_file(const GridFileRef& file) {
  const core::Lock lock(table().mutex);
  static LeftOpen left_open;
  files_left_open.store(&left_open, std::memory_order_release);
  table().files[key(file->handle)] = file;
  open_files.fetch_add(1, std::memory_order_release);
}

void forget_file(MPI_File handle) {
  const core::Lock lock(table().mutex);
  if (table().files.erase(key(handle)) > 0) open_files.fetch_sub(1, std::memory_order_release);
}

GridFileRef find_file_elsewhere(const std::string& name) {
  if (open_files.load(std::memory_order_acquire) == 0) return nullptr;
  const core::Lock lock(table().mutex);
  for (const auto& [handle, file] : table().files) {
    if (!file->near && file->name == name) return file;
  }
  return nullptr;
}

void GridFile::run(const char* function, const std::function<void()>& work) const {
  if (near) return work();
  run_on_worker(comm, function, work);
}

void run_on_worker(MPI_Comm comm, const char* function, const std::function<void()>& work) {
  const JobRef job = do_later(work);
  const auto describe = [&](WaitingFor& wait) {
    wait.call = function;
    wait.comm = comm;
  };
  const KnownWhence known(Whence::Far);
  wait_until([&] { return job->done(); }, Describe(describe));
  job->check();
}

void remove_beside(const GridFile& file, const char* function, const std::string& path) {
  file.run(function, [&] {
    if (file.near) return file::remove_file(path);
    file::remove_there(*file.service, path);
  });
}

void remove_shared_number(const GridFile& file, const char* function) {
  try {
    remove_beside(file, function, file.paths.shared);
  } catch (const file::Error&) {
    return;  // usually it does not exist
  }
}

void tell_all(const GridFile& file, coll::ConstBytes mine, coll::Bytes all, const char* failed) {
  if (file.members) {
    return tell_all(file.members, mine, all,
                    Purpose{.what = "agreement on a file", .failed = failed});
  }
  const auto size = static_cast<int>(mine.size());
  const int code =
      isthmus_Allgather(mine.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE, file.comm);
  require_success(code, failed);
}

void meet_all(const GridFile& file) {
  tell_all(file, 0, "the file's processes could not wait for each other");
}

void together(const GridFile& file, const std::function<void()>& work) {
  ToldError mine;
  try {
    work();
  } catch (const file::Error& error) {
    mine = ToldError(error);
  }
  throw_first(tell_all(file, mine,
                       "the file's processes could not tell each other whether all has gone well"));
}

void run_together(const GridFile& file, const char* function, const std::function<void()>& work) {
  together(file, [&] { file.run(function, work); });
}

void require_same(const GridFile& file, std::int64_t value, const char* what) {
  const auto all =
      tell_all(file, value, "the file's processes could not tell each other their arguments");
  for (const std::int64_t each : all) require(each == all.front(), MPI_ERR_NOT_SAME, what);
}

}  // namespace isthmus::face
