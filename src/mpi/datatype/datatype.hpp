// Typed buffers as packed bytes. MPI itself packs and unpacks, on the program's thread; a buffer
// whose type map is one gapless run in order is used in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mpi/datatype/signature.hpp"
#include "mpi/native/native.hpp"

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

enum class Copy { IfNeeded, Always };

/// Data to be sent: the program's memory in place, or a packed copy that this object owns.
class Outgoing {
 public:
  /// Throws MpiError with the native error code for a bad datatype or count. Memory of a GPU is
  /// copied, and MPI_ERR_BUFFER has the driver's words if that fails.
  Outgoing(const void* buffer, MPI_Count count, MPI_Datatype type, Copy copy = Copy::IfNeeded);
  std::span<const std::byte> bytes() const { return bytes_; }
  /// As signature_of; null without data.
  const Signature* signature() const { return signature_.get(); }
  /// Makes the bytes those of another format. Once.
  void change_format(core::Format from, core::Format to);

 private:
  std::unique_ptr<std::byte[]> owned_;
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
  /// As signature_of; null without room for data.
  const Signature* signature() const { return signature_.get(); }
  /// finish() changes the format of what comes.
  void change_format(core::Format from, core::Format to) {
    if (signature_) come_in_ = from, become_ = to;
  }
  /// Unpacks the first `received` bytes (a whole number of basic elements, maybe fewer than
  /// asked for). Program's thread only. Returns an MPI error code.
  int finish(std::size_t received);

 private:
  void finish_part(std::size_t element_index, std::size_t received);

  void* buffer_ = nullptr;
  MPI_Count count_ = 0;
  KeptType type_;        // when packed
  bool staged_ = false;  // for memory of a GPU
  std::unique_ptr<std::byte[]> owned_;
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
