#include "mpi/datatype/device_source.hpp"

#include <algorithm>

#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

// The first piece is small, so that the network has something to do early. The driver's call for
// each piece holds up its copies for some 10 us.
constexpr std::size_t kFirst = std::size_t{256} * 1024, kMost = std::size_t{1} << 20;

}  // namespace

DeviceSource::DeviceSource(const void* buffer, MPI_Count count, MPI_Datatype type,
                           std::span<std::byte> out)
    : runs_(buffer, count, type), out_(out), copies_(device_copies(runs_.first())) {
  copy_to(next_end(0));
}

std::size_t DeviceSource::next_end(std::size_t at) const {
  return std::min(out_.size(), at + std::clamp(at, kFirst, kMost));
}

void DeviceSource::copy_to(std::size_t end) {
  runs_.pass(end, [this](std::byte* from, std::size_t at, std::size_t bytes) {
    copies_->to_host(out_.data() + at, from, bytes);
  });
}

void DeviceSource::copy() {
  copy_to(out_.size());
  copies_->end();
}

void DeviceSource::advance_to(std::size_t end) {
  there_.store(end, std::memory_order_release);
  grid()->endpoint->extend(*op_, end);
}

// Drivers call in the order of the copies.
void DeviceSource::tell() {
  const auto next = [](void* self) {
    auto& source = *static_cast<DeviceSource*>(self);
    source.advance_to(source.next_end(source.there_.load(std::memory_order_relaxed)));
  };
  if (copies_->tell(next, this)) return;
  copies_->end();
  next(this);
}

void DeviceSource::feed(core::SendOp& op) {
  op_ = &op;
  try {
    tell();
    while (runs_.at() < out_.size()) {
      copy_to(next_end(runs_.at()));
      tell();
    }
  } catch (const MpiError& why) {
    fail(why);
  }
}

void DeviceSource::look() {
  if (whole()) return;
  try {
    copies_->ended();
  } catch (const MpiError& why) {
    fail(why);
  }
}

void DeviceSource::wait() {
  if (whole()) return;
  try {
    copies_->end();
  } catch (const MpiError& why) {
    fail(why);
  }
}

// The receiver knows the size of the message, and waits for all of it.
void DeviceSource::fail(const MpiError& why) {
  failure_ = why;
  try {
    copies_->end();
  } catch (const MpiError&) {  // NOLINT(bugprone-empty-catch): the failure is known
  }
  std::ranges::fill(out_.subspan(there_.load(std::memory_order_acquire)), std::byte{0});
  advance_to(out_.size());
}

}  // namespace isthmus::face
