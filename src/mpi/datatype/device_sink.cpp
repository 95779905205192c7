#include "mpi/datatype/device_sink.hpp"

#include <algorithm>

namespace isthmus::face {

DeviceSink::DeviceSink(std::span<const std::byte> in, void* buffer, MPI_Count count,
                       MPI_Datatype type)
    : runs_(buffer, count, type), in_(in), copies_(device_copies(runs_.first())) {}

void DeviceSink::copy_to(std::size_t end) {
  runs_.pass(std::min(end, in_.size()), [this](std::byte* to, std::size_t at, std::size_t bytes) {
    copies_->to_device(to, in_.data() + at, bytes);
  });
}

void DeviceSink::take(std::size_t bytes) {
  if (failure_ || bytes < runs_.at() + kStep) return;
  try {
    copy_to(bytes);
  } catch (const MpiError& why) {
    failure_ = why;
  }
}

void DeviceSink::finish(std::size_t bytes) {
  if (failure_) throw MpiError(*failure_);
  copy_to(bytes);
  copies_->end();
}

}  // namespace isthmus::face
