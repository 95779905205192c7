// The elements of datatypes, for clusters whose processors hold them in different formats
// (docs/decisions/0054).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/datatype/format.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/differences.hpp"

namespace isthmus::face {

/// A datatype as a change of format sees it.
struct Signature {
  core::TypeMap map;                  ///< its pieces have elements as core/datatype/format.hpp says
  const char* long_double = nullptr;  ///< as long_double_in
};
using SignatureRef = std::shared_ptr<const Signature>;

SignatureRef differing_signature(MPI_Datatype type);
/// Null: no cluster that this process knows to differ holds the datatype's elements otherwise.
inline SignatureRef signature_of(MPI_Datatype type) {
  return differences.load(std::memory_order_relaxed) == Differences::None
             ? nullptr
             : differing_signature(type);
}

/// Does nothing without a signature, and to packed data that is in the format already.
void change_format(std::span<std::byte> packed, const Signature* signature, core::Format from,
                   core::Format to);

}  // namespace isthmus::face
