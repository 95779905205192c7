#include "mpi/file/grid_file.hpp"

#include <unordered_map>

#include "mpi/making/agreement.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/progress.hpp"

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

void GridFile::run(const char* function, const std::function<void()>& work) const {
  if (near) return work();
  const JobRef job = do_later(work);
  const auto describe = [&](WaitingFor& wait) {
    wait.call = function;
    wait.comm = comm;
  };
  wait_until([&] { return job->done(); }, Describe(describe));
  job->check();
}

void meet_all(const GridFile& file) { meet(file.members); }

int errors_of_all(const GridFile& file, int mine) {
  for (const int each : tell_all(file.members, mine)) {
    if (each != 0) return each;
  }
  return 0;
}

void require_same(const GridFile& file, std::int64_t value, const char* what) {
  const auto all = tell_all(file.members, value);
  for (const std::int64_t each : all) {
    require(each == all.front(), MPI_ERR_NOT_SAME, what);
  }
}

}  // namespace isthmus::face
