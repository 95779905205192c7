// Typed buffers as packed bytes. MPI itself packs and unpacks, on the program's thread; a buffer
// whose type map is one gapless run in order is used in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/wire/message.hpp"
#include "mpi/datatype/device_sink.hpp"
#include "mpi/datatype/device_source.hpp"
#include "mpi/datatype/signature.hpp"
#include "mpi/native/native.hpp"
#include "mpi/native/pinned_pool.hpp"

namespace isthmus::face {

class HandleUses;

/// A datatype of the program that stays valid although the program may free it.
class KeptType {
 public:
  KeptType() = default;
  explicit KeptType(MPI_Datatype type);
  KeptType(KeptType&& other) noexcept;
  KeptType& operator=(KeptType&& other) noexcept;
  ~KeptType();
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool used_ = false;
};

/// `size` bytes as one element, for functions that count in int.
class ManyBytes {
 public:
  explicit ManyBytes(std::uint64_t size);
  ~ManyBytes();
  ManyBytes(const ManyBytes&) = delete;
  ManyBytes& operator=(const ManyBytes&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Flowing: as IfNeeded, but bytes of a GPU may come later (Outgoing::send).
enum class Copy { IfNeeded, Always, Flowing };

/// Data to be sent: the program's memory in place, or a packed copy that this object owns.
class Outgoing {
 public:
  /// Throws MpiError with the native error code for a bad datatype or count. Memory of a GPU is
  /// copied, and MPI_ERR_BUFFER has the driver's words if that fails.
  Outgoing(const void* buffer, MPI_Count count, MPI_Datatype type, Copy copy = Copy::IfNeeded);
  Outgoing(Outgoing&&) = default;
  Outgoing& operator=(Outgoing&&) = delete;
  /// If it flows, they are there when what send() has sent is done.
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Sends them. `op` names all else, and stays in place.
  void send(core::SendOp& op);
  /// A flow may have failed: then the send ends nevertheless, and its receive with an error. Call
  /// it now and then while the send is not done.
  void look() {
    if (source_) source_->look();
  }
  /// Waits until all bytes that have been sent are there, or the flow has failed.
  void wait() {
    if (source_) source_->wait();
  }
  /// Why a flow has failed, once its send is done; null: it has not.
  const MpiError* failure() const { return source_ ? source_->failure() : nullptr; }
  /// As signature_of; null without data.
  const Signature* signature() const { return signature_.get(); }
  /// Makes the bytes those of another format. Once, before send().
  void change_format(core::Format from, core::Format to);

 private:
  PinnedPool::Memory owned_;
  std::unique_ptr<DeviceSource> source_;  // of bytes that flow; ends before their memory
  std::span<const std::byte> bytes_;
  SignatureRef signature_;
};

/// Memory for data to be received: the program's in place, or a buffer that finish() unpacks.
class Incoming {
 public:
  Incoming() = default;
  /// Throws as Outgoing does.
  Incoming(void* buffer, MPI_Count count, MPI_Datatype type);
  std::span<std::byte> bytes() { return bytes_; }
  /// The bytes are the program's memory, as they are: finish() has nothing to do.
  bool in_place() const { return owned_ == nullptr && come_in_ == become_; }
  /// Has `op` receive into them.
  void receive_into(core::RecvOp& op);
  /// Call it now and then while the receive is not done.
  void look(const core::RecvOp& op) {
    if (op.follow != 0) take(op.prefix.load(std::memory_order_acquire));
  }
  /// As signature_of; null without room for data.
  const Signature* signature() const { return signature_.get(); }
  /// finish() changes the format of what comes.
  void change_format(core::Format from, core::Format to) {
    if (signature_) come_in_ = from, become_ = to;
  }
  /// Unpacks the first `received` bytes (a whole number of basic elements, maybe fewer than
  /// asked for). Program's thread only. Returns an MPI error code.
  int finish(std::size_t received);
  /// The same for all bytes, but throws MpiError, with the driver's words if a copy fails.
  void finish_or_throw() { unpack_first(bytes_.size()); }

 private:
  void take(std::size_t prefix);
  DeviceSink& sink();
  void unpack_first(std::size_t received);
  void finish_part(std::size_t element_index, std::size_t received);

  void* buffer_ = nullptr;
  MPI_Count count_ = 0;
  KeptType type_;        // when packed
  bool staged_ = false;  // for memory of a GPU
  PinnedPool::Memory owned_;
  std::unique_ptr<DeviceSink> sink_;  // once something has come; ends before their memory
  std::span<std::byte> bytes_;
  SignatureRef signature_;
  core::Format come_in_, become_;
};

/// Packed bytes of `count` elements. The datatype of zero elements is not checked, here and below:
/// MPICH takes any value, MPI_DATATYPE_NULL too.
std::size_t packed_size(MPI_Count count, MPI_Datatype type);
/// True when `count` elements of `type` are one gapless run of memory in type map order,
/// starting at the buffer's address plus *lower (the true lower bound).
bool is_contiguous(MPI_Count count, MPI_Datatype type, MPI_Aint* lower);
/// Frees a datatype that is_contiguous and packed_size may know.
int free_type(MPI_Datatype* type);
/// Grows with each freed datatype: earlier knowledge of derived datatypes is stale then.
std::uint64_t types_freed();
/// The program's datatypes in use.
HandleUses& type_uses();
/// The name of a predefined datatype in `type` whose elements are made of `long double`, or null.
const char* long_double_in(MPI_Datatype type);
/// True for predefined datatypes (and those of MPI_Type_create_f90_...), which are never freed.
bool is_predefined(MPI_Datatype type);

}  // namespace isthmus::face
