#include "mpi/file/own_access.hpp"

#include <exception>
#include <utility>

namespace isthmus::face {

OwnAccess::OwnAccess(GridFileRef file, Direction direction, std::shared_ptr<FileData> data,
                     const ViewOfFile& view)
    : file_(std::move(file)),
      direction_(direction),
      data_(std::move(data)),
      etype_size_(view.etype_size),
      seen_(view.seen),
      atomic_(file_->atomic) {}

void OwnAccess::start(std::optional<std::int64_t> position, bool at_once) {
  if (position && !atomic_) under_way_ = begin(*position * etype_size_);
  if (under_way_) return;
  const auto work = [self = shared_from_this(), position] { self->move(position); };
  if (file_->near && !at_once) {
    job_ = std::make_shared<Job>(work);
    job_->run();
  } else {
    job_ = do_later(work);
  }
}

void OwnAccess::start_late(std::optional<std::int64_t> position) noexcept {
  try {
    start(position, true);
  } catch (...) {
    const auto thrown = std::current_exception();
    job_ = std::make_shared<Job>([thrown] { std::rethrow_exception(thrown); });
    job_->run();
  }
}

std::size_t OwnAccess::finish() {
  if (under_way_) return under_way_->finish();
  job_->check();
  return moved_;
}

std::unique_ptr<file::UnderWay> OwnAccess::begin(std::int64_t byte) {
  if (direction_ == Direction::Read) return file_->file->begin_read(byte, data_->bytes());
  return file_->file->begin_write(byte, data_->bytes());
}

// On the worker, or here.
void OwnAccess::move(std::optional<std::int64_t> position) {
  if (data_->bytes().empty() && position) return;
  const auto length = static_cast<std::int64_t>(data_->bytes().size());
  if (!position) position = file_->file->add_shared(length / etype_size_);
  const std::int64_t byte = *position * etype_size_;
  if (!atomic_) return move_bytes(byte);
  const auto range = seen_.range(byte, length);
  file_->file->lock(range.low, range.high);
  try {
    move_bytes(byte);
  } catch (...) {
    file_->file->unlock();
    throw;
  }
  file_->file->unlock();
}

void OwnAccess::move_bytes(std::int64_t byte) {
  if (direction_ == Direction::Read) {
    moved_ = file_->file->read(byte, data_->bytes());
  } else {
    file_->file->write(byte, data_->bytes());
    moved_ = data_->bytes().size();
  }
}

}  // namespace isthmus::face
