// MPI_Comm_idup under way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/comm_info.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Ends when the native duplication of the parent's handle has ended and the result is a grid
/// communicator with these hints. It never waits natively: its parts come to their ends while the
/// program does other things.
class Duplication final : public Collective {
 public:
  /// Begins the native duplication of the parent's handle. Returns a native error code.
  using Begin = std::function<int(MPI_Comm* made, MPI_Request* copied)>;
  /// Hands the program its handle.
  using Give = std::function<void(MPI_Comm made)>;

  Duplication(const GridCommRef& parent, const char* function, Begin begin, Give give,
              const Hints& hints);
  ~Duplication() override;

  /// Begins the native duplication, and gives the handle, at its turn among the parent's
  /// collectives, since all of them use the handle. False: not yet. Only the thread that made this
  /// may call it, and only before the operation is advanced.
  bool begin();
  /// The result of the beginning: a native error code.
  int code() const { return code_; }

 private:
  coll::Task start(coll::Party& party) override;
  void finish() override;
  coll::Task duplicate(coll::Party& party);
  coll::Task find_tags(coll::Party& party);

  GridCommRef parent_;
  Begin begin_;
  Give give_;
  MPI_Comm made_ = MPI_COMM_NULL;
  MPI_Request copied_ = MPI_REQUEST_NULL;
  std::uint64_t context_ = 0;
  TagRange tags_;
  int code_ = MPI_SUCCESS;
  bool begun_ = false, made_well_ = false, registered_ = false;
  Hints hints_;
  std::optional<NativeIdup> under_way_;
};

}  // namespace isthmus::face
