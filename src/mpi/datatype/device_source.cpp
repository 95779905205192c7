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

void DeviceSource::end_growth() {
  if (send_ && grid() != nullptr) grid()->endpoint->end_growth(*send_);
}

// Drivers call in the order of the copies. The function may not wait for any copies. A window's
// target waits for its own with the engine's lock held, so the function does not take that lock.
void DeviceSource::tell() {
  const auto next = [](void* self) {
    const auto& source = *static_cast<const DeviceSource*>(self);
    grid()->endpoint->extend(source.send_, source.next_end(source.there()));
  };
  if (copies_->tell(next, this)) return;
  copies_->end();
  next(this);
}

void DeviceSource::feed(core::SendOp& op) {
  send_ = std::make_shared<net::GrowingSend>(op);
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
  if (!send_ || failure_ || whole()) return;
  try {
    copies_->ended();
  } catch (const MpiError& why) {
    fail(why);
  }
}

void DeviceSource::wait() {
  if (!send_ || failure_) return;
  try {
    copies_->end();
    end_growth();
  } catch (const MpiError& why) {
    fail(why);
  }
}

void DeviceSource::fail(const MpiError& why) {
  failure_ = why;
  try {
    copies_->end();
  } catch (const MpiError&) {  // NOLINT(bugprone-empty-catch): the failure is known
  }
  if (grid() != nullptr) grid()->endpoint->spoil(*send_, why.what());
}

// The I/O thread may still be about to tell of bytes that the engine knows of.
DeviceSource::~DeviceSource() { end_growth(); }

}  // namespace isthmus::face
