// MPI_Comm_idup under way.
#pragma once

#include <cstdint>
#include <memory>

#include "mpi/collective.hpp"
#include "mpi/comm.hpp"
#include "mpi/native.hpp"

namespace isthmus::face {

/// Ends when the native duplication `copied` of the parent's handle, which gives `made`, has ended
/// and `made` is a grid communicator with these choices of algorithms. Nothing in it waits
/// natively: its parts come to their ends while the program does other things.
class Duplication final : public Collective {
 public:
  Duplication(const GridCommRef& parent, const char* function, MPI_Comm made, MPI_Request copied,
              coll::Forced forced);
  ~Duplication() override;

  /// Returns when another native duplication of the handle may begin. Open MPI 4.1 and 5.0 let
  /// those of one communicator overtake each other, differently on each rank, and then hang.
  static void await_turn(const GridComm& parent);

 private:
  coll::Task start(coll::Party& party) override;
  void finish() override;
  void done();

  MPI_Comm made_;
  MPI_Request copied_;
  std::uint64_t context_;
  MPI_Comm shadow_ = MPI_COMM_NULL;
  coll::Forced forced_;
  bool done_ = false;
};

}  // namespace isthmus::face
