// A file opened by a communicator that spans clusters. Its handle is a native file of this process
// alone (native_file.hpp): error handlers, Fortran's number and MPI_File_c2f are native; data and
// pointers are here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coll/engine/party.hpp"
#include "core/base/mutex.hpp"
#include "core/base/own_order.hpp"
#include "core/datatype/format.hpp"
#include "file/open_file.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/file/gathered_write.hpp"
#include "mpi/file/representation.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/file_worker.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

/// The arguments of MPI_File_set_view. The datatypes are copies.
struct ViewOfFile {
  MPI_Offset displacement = 0;
  MPI_Datatype etype = MPI_BYTE, filetype = MPI_BYTE;
  RepresentationRef representation = native_representation();
  std::int64_t etype_size = 1;  ///< bytes in the file
  file::View seen;
  GatheringRef gathering;  ///< null: collective writes are not gathered
};

struct GridFile {
  MPI_File handle = MPI_FILE_NULL;
  MPI_Comm comm = MPI_COMM_NULL;  ///< of the processes that opened it; its own
  GridCommRef members;            ///< behind `comm`; null: all are in one cluster, and it is native
  int rank = 0, size = 1;         ///< of this process in `comm`, and of `comm`
  MPI_Info info = MPI_INFO_NULL;  ///< hints in use
  int amode = 0;
  std::string name;  ///< the program's name for it
  file::Paths paths;
  std::string home;                       ///< the cluster of the file
  core::Format format;                    ///< of native data in it: its home's
  bool keeper = false;                    ///< this process removes the files that go with the file
  bool near = false;                      ///< in this process's own file system
  std::optional<file::Leftover> goes;     ///< of the keeper that is near: removed at the end
  std::shared_ptr<file::Caller> service;  ///< that this process uses, unless it is near
  std::shared_ptr<file::OpenFile> file;
  bool atomic = false;
  bool refuses_gathering = false;  ///< set by a hint of this process

  core::Mutex mutex;  // for several threads of the program
  ViewOfFile view GUARDED_BY(mutex);
  std::int64_t position GUARDED_BY(mutex) = 0;         ///< the individual pointer, in etypes
  std::unique_ptr<Operation> split GUARDED_BY(mutex);  ///< the split collective under way
  const char* split_call GUARDED_BY(mutex) = nullptr;  ///< the call that began it

  ViewOfFile view_now() {
    const core::Lock lock(mutex);
    return view;
  }
  /// Runs `work` in a place where files may block: here, or on the worker while this thread waits
  /// as MPI does. Throws its exception.
  void run(const char* function, const std::function<void()>& work) const;
};
using GridFileRef = std::shared_ptr<GridFile>;

/// The grid file behind a handle; null when the call is the native library's.
GridFileRef find_file(MPI_File handle);
/// An open file by the name that the program gave, which is not in this process's file system.
GridFileRef find_file_elsewhere(const std::string& name);
inline GridFileRef grid_file(MPI_File handle) {
  return native_call() ? nullptr : find_file(handle);
}
void enter_file(const GridFileRef& file);
void forget_file(MPI_File handle);

/// Runs `work`, which waits for another cluster, on the worker while this thread waits as MPI does.
/// Throws what it throws.
void run_on_worker(MPI_Comm comm, const char* function, const std::function<void()>& work);
/// Removes a file beside the grid file, or itself, in its place.
void remove_beside(const GridFile& file, const char* function, const std::string& path);
/// For the keeper. The shared pointer is 0 from now on.
void remove_shared_number(const GridFile& file, const char* function);

/// The item of every process that has opened the file, by rank. The item holds no pointers.
/// `failed`, a string literal, is the error if they cannot exchange it.
void tell_all(const GridFile& file, coll::ConstBytes mine, coll::Bytes all, const char* failed);
template <class Item>
std::vector<Item> tell_all(const GridFile& file, const Item& mine, const char* failed) {
  std::vector<Item> all(static_cast<std::size_t>(file.size));
  const Item told = core::as_little_endian(mine);
  tell_all(file, std::as_bytes(std::span(&told, 1)), std::as_writable_bytes(std::span(all)),
           failed);
  core::little_endian(all);
  return all;
}

/// The processes at large: collective over those that opened the file.
void meet_all(const GridFile& file);
/// Collective: `work` succeeds in every process, or all throw the error of the first that failed.
void together(const GridFile& file, const std::function<void()>& work);
/// The same with GridFile::run.
void run_together(const GridFile& file, const char* function, const std::function<void()>& work);
/// All give the same, or all throw MPI_ERR_NOT_SAME with `what`.
void require_same(const GridFile& file, std::int64_t value, const char* what);

}  // namespace isthmus::face
