// MPI_Comm_idup under way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "mpi/coll/collective.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/making/creation.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Ends when the native duplication of the parent's handle has ended and what it made is a grid
/// communicator with these choices of algorithms. Nothing in it waits natively: its parts come to
/// their ends while the program does other things.
class Duplication final : public Collective {
 public:
  /// Begins the native duplication of the parent's handle. Returns a native error code.
  using Begin = std::function<int(MPI_Comm* made, MPI_Request* copied)>;

  Duplication(const GridCommRef& parent, const char* function, Begin begin, MPI_Comm* newcomm,
              coll::Forced forced);
  ~Duplication() override;

  /// Begins the native duplication, at the latest when it is this collective's turn. Returns a
  /// native error code.
  int begin();

  /// False while another native duplication of the parent's handle must end first: Open MPI 4.1 and
  /// 5.0 let those of one communicator overtake each other, differently on each rank, and then
  /// hang.
  static bool may_begin(const GridComm& parent);

 private:
  coll::Task start(coll::Party& party) override;
  void finish() override;
  void done();

  Begin begin_;
  MPI_Comm* newcomm_;
  coll::Task duplicate(coll::Party& party);

  MPI_Comm made_ = MPI_COMM_NULL;
  MPI_Request copied_ = MPI_REQUEST_NULL;
  std::uint64_t context_;
  MPI_Comm shadow_ = MPI_COMM_NULL;
  bool made_well_ = false, shadow_well_ = false, registered_ = false;
  coll::Forced forced_;
  std::optional<NativeIdup> under_way_;
};

}  // namespace isthmus::face
