// The collectives' view of a grid communicator. Local phases are non-blocking native collectives on
// its handle, which the program itself never uses for collectives. Messages within the cluster are
// native ones on the shadow; messages between clusters are the engine's.
#pragma once

#include "coll/engine/party.hpp"
#include "coll/engine/recent_choices.hpp"
#include "mpi/coll/host_commons.hpp"
#include "mpi/coll/party_operation.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

struct GridComm;

class FaceParty final : public coll::Party {
 public:
  explicit FaceParty(GridComm& comm) : comm_(comm) {}

  int rank() const override;
  const coll::Layout& layout() const override;
  const coll::Network& network() const override;
  const coll::Forced& forced() const override;
  void chosen(const coll::Problem& problem, const coll::Choice& choice) override;
  coll::Commons* commons() override;
  coll::RecentChoices* recent() override;
  bool attended() const override;
  bool reproducible() const override;

  /// The collective of that number begins. `waited_for`: it is a blocking one, on all ranks. The
  /// others go by messages, which advance without the program's threads. Messages also wake a
  /// thread that waits for several requests.
  void begins(std::uint64_t number, bool waited_for) {
    waited_for_ = waited_for;
    if (commons_) commons_->commons().begin(number);
  }
  /// Before the first that goes by it: made there, or not.
  std::unique_ptr<HostCommons>& host_commons() { return commons_; }

  /// Looks at the native requests of the collective under way.
  void test_requests() { requests_.test(); }
  /// The collective under way has ended.
  void ended();
  coll::Pending send(int rank, int tag, coll::ConstBytes data) override;
  coll::Pending send_synchronous(int rank, int tag, coll::ConstBytes data) override;
  coll::Pending recv(int rank, int tag, coll::Bytes data) override;
  coll::Pending local_barrier() override;
  coll::Pending local_bcast(coll::Bytes data, int root) override;
  coll::Pending local_gather(coll::ConstBytes mine, coll::Bytes all,
                             std::span<const std::size_t> sizes, int root) override;
  coll::Pending local_scatter(coll::ConstBytes all, std::span<const std::size_t> sizes,
                              coll::Bytes mine, int root) override;
  coll::Pending local_allgather(coll::ConstBytes mine, coll::Bytes all,
                                std::span<const std::size_t> sizes) override;
  coll::Pending local_alltoall(coll::ConstBytes out, std::span<const std::size_t> out_sizes,
                               coll::Bytes in, std::span<const std::size_t> in_sizes) override;
  /// The reductions must be FaceReductions (mpi/datatype/reduction.hpp).
  coll::Pending local_reduce(coll::ConstBytes in, coll::Bytes out, std::size_t count,
                             coll::Reduction& reduction, int root) override;
  coll::Pending local_scan(coll::ConstBytes in, coll::Bytes out, std::size_t count,
                           coll::Reduction& reduction) override;

 private:
  bool alone() const;
  /// Copies the data if this process is alone; false: it is not.
  bool stays_here(coll::ConstBytes from, coll::Bytes to) const;
  bool by_engine(int rank) const;
  coll::Pending send_by_engine(int rank, int tag, coll::ConstBytes data, bool synchronous);
  coll::Pending send_here(decltype(&MPI_Isend) native_send, int rank, int tag,
                          coll::ConstBytes data);
  void send_pieces(PhaseOperation& op, decltype(&MPI_Isend) native_send, int rank, int tag,
                   coll::ConstBytes data);
  void receive_pieces(PhaseOperation& op, int rank, int tag, coll::Bytes data);
  std::unique_ptr<PhaseOperation> operation(const char* what);

  /// Blocks of more bytes go as messages beside the native collective: a library without large
  /// counts could not express them together. Both ends of a block judge by its size alone.
  std::size_t longest_native() const;
  void send_long(PhaseOperation& op, int member, coll::ConstBytes block);
  void receive_long(PhaseOperation& op, int member, coll::Bytes block);
  /// This process's own block, if it is long.
  void keep_long(coll::ConstBytes from, coll::Bytes to) const;

  GridComm& comm_;
  PhaseRequests requests_;
  std::unique_ptr<HostCommons> commons_;
  coll::RecentChoices recent_;
  std::uint64_t recent_by_ = 0;  // Grid::choices_by when they were made
  bool waited_for_ = false;
  bool streams_ = false;  // the collective under way is one of streams
};

}  // namespace isthmus::face
