#include "mpi/file/grid_file.hpp"

#include <array>
#include <cstring>
#include <unordered_map>

#include "file/error.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/whence.hpp"

namespace isthmus::face {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, GridFileRef> files;
};
Table& table() {
  static auto* const all = new Table;  // never destroyed
  return *all;
}
std::atomic<int> open_files{0};

}  // namespace

GridFileRef find_file(MPI_File handle) {
  if (open_files.load(std::memory_order_acquire) == 0) return nullptr;
  const std::lock_guard lock(table().mutex);
  const auto found = table().files.find(key(handle));
  return found == table().files.end() ? nullptr : found->second;
}

void enter_file(const GridFileRef& file) {
  const std::lock_guard lock(table().mutex);
  table().files[key(file->handle)] = file;
  open_files.fetch_add(1, std::memory_order_release);
}

void forget_file(MPI_File handle) {
  const std::lock_guard lock(table().mutex);
  if (table().files.erase(key(handle)) > 0) open_files.fetch_sub(1, std::memory_order_release);
}

GridFileRef find_file_elsewhere(const std::string& name) {
  if (open_files.load(std::memory_order_acquire) == 0) return nullptr;
  const std::lock_guard lock(table().mutex);
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
    return;  // mostly there was none
  }
}

void tell_all(const GridFile& file, coll::ConstBytes mine, coll::Bytes all) {
  if (file.members) return tell_all(file.members, mine, all);
  const auto size = static_cast<int>(mine.size());
  const int code =
      isthmus_Allgather(mine.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE, file.comm);
  require_success(code, "the members could not tell each other");
}

void meet_all(const GridFile& file) { tell_all(file, 0); }

int errors_of_all(const GridFile& file, int mine) {
  for (const int each : tell_all(file, mine)) {
    if (each != 0) return each;
  }
  return 0;
}

void together(const GridFile& file, const std::function<void()>& work) {
  struct Outcome {
    int error = 0;
    std::array<char, 512> text{};
  } mine;
  try {
    work();
  } catch (const file::Error& error) {
    mine.error = error.number;
    std::strncpy(mine.text.data(), error.what(), mine.text.size() - 1);
  }
  for (const Outcome& each : tell_all(file, mine)) {
    if (each.error != 0) throw file::Error(each.error, each.text.data());
  }
}

void run_together(const GridFile& file, const char* function, const std::function<void()>& work) {
  together(file, [&] { file.run(function, work); });
}

void require_same(const GridFile& file, std::int64_t value, const char* what) {
  const auto all = tell_all(file, value);
  for (const std::int64_t each : all) {
    require(each == all.front(), MPI_ERR_NOT_SAME, what);
  }
}

}  // namespace isthmus::face
