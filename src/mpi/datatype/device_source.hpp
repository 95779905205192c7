// A large message from the memory of a GPU. Its pieces are sent while the driver copies those
// behind them to the host. The driver's thread tells of each, so the program may compute meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "coll/engine/mpi_error.hpp"
#include "core/wire/message.hpp"
#include "mpi/datatype/memory_runs.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/native/native.hpp"
#include "net/endpoint/growing_send.hpp"

namespace isthmus::face {

class DeviceSource {
 public:
  /// Messages of fewer bytes are copied as a whole.
  static constexpr std::size_t kLeast = std::size_t{512} * 1024;

  /// Begins to copy the first piece to `out`, which the packed elements fill, and which outlives
  /// this. Throws MpiError as DeviceCopies does.
  DeviceSource(const void* buffer, MPI_Count count, MPI_Datatype type, std::span<std::byte> out);
  /// Waits for the copies. The send has ended.
  ~DeviceSource();
  DeviceSource(const DeviceSource&) = delete;
  DeviceSource& operator=(const DeviceSource&) = delete;

  /// Copies all of it. Instead of feed(); throws as the constructor does.
  void copy();

  /// Has the driver copy the other pieces, and tells the engine of each. `op` has been sent with
  /// none of `out` ready, and outlives this in its place. The elements may be freed when it is
  /// done.
  void feed(core::SendOp& op);
  /// A copy may have failed: then the message is spoilt (core::Engine::spoil). Cheap. After feed(),
  /// as the next two.
  void look();
  /// Waits until the message is there as a whole or spoilt, and the engine knows.
  void wait();
  /// Why it is spoilt; null: it is not. Call it when the send is over.
  const MpiError* failure() const { return failure_ ? &*failure_ : nullptr; }

 private:
  std::size_t next_end(std::size_t at) const;
  void copy_to(std::size_t end);
  void tell();
  void end_growth();
  void fail(const MpiError& why);
  std::size_t there() const { return send_->ready.load(std::memory_order_acquire); }
  bool whole() const { return there() == out_.size(); }

  MemoryRuns runs_;
  const std::span<std::byte> out_;
  std::shared_ptr<net::GrowingSend> send_;  // since feed()
  std::optional<MpiError> failure_;
  const std::unique_ptr<DeviceCopies> copies_;  // goes first
};

}  // namespace isthmus::face
