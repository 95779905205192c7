// A process's own part of an access of a grid file: it moves its own data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "file/open_file.hpp"
#include "mpi/file/file_data.hpp"
#include "mpi/file/grid_file.hpp"
#include "mpi/process/file_worker.hpp"

namespace isthmus::face {

/// Shared: the thread that waits, the one that begins it late and the worker may be three.
class OwnAccess : public std::enable_shared_from_this<OwnAccess> {
 public:
  OwnAccess(GridFileRef file, Direction direction, std::shared_ptr<FileData> data,
            const ViewOfFile& view);

  /// `position`: in etypes; empty: the shared pointer's. `at_once`: it may not block. Throws
  /// file::Error of earlier writes.
  void start(std::optional<std::int64_t> position, bool at_once);
  /// The same at once; finish() throws its exception.
  void start_late(std::optional<std::int64_t> position) noexcept;
  /// After start().
  bool done() const { return under_way_ ? under_way_->done() : job_->done(); }
  /// After done(), once: bytes that were moved. Throws file::Error.
  std::size_t finish();

 private:
  std::unique_ptr<file::UnderWay> begin(std::int64_t byte);
  void move(std::optional<std::int64_t> position);
  void move_bytes(std::int64_t byte);

  const GridFileRef file_;
  const Direction direction_;
  const std::shared_ptr<FileData> data_;
  const std::int64_t etype_size_;
  const file::View seen_;
  const bool atomic_;
  std::unique_ptr<file::UnderWay> under_way_;
  JobRef job_;  // work that would block
  std::size_t moved_ = 0;
};

}  // namespace isthmus::face
