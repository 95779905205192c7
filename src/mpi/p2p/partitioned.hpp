// MPI-4.1 section 4.2 between clusters: partitioned sends and receives.
//
// MPI_Psend_init tells the receiver of a new *channel* by a message with the program's tag, in a
// context that no other messages have: so inits match in their order. From then on each partition
// is a message in the channel's own context, whose tag is the partition's number: it leaves when it
// is ready, and lands where it belongs whatever the receiver's partitions are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/message.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/request/request.hpp"

namespace isthmus::face {

/// One side's arguments, as MPI_Psend_init and MPI_Precv_init have them.
struct Partitions {
  std::byte* buffer = nullptr;
  int number = 0;
  MPI_Count count = 0;  ///< elements in each
  KeptType type;
  MPI_Count extent = 0;  ///< of the type

  /// Throws coll::Failure.
  Partitions(void* buffer_, int number_, MPI_Count count_, MPI_Datatype type_);
  /// Where the elements of a partition are.
  std::byte* at(int partition) const { return buffer + partition * count * extent; }
  /// Throws coll::Failure for a partition that there is not.
  void check(int partition) const;
};

/// What the sender tells when it makes a channel.
struct PartitionedInit {
  std::uint64_t context = 0;     ///< of the partitions
  std::uint64_t bytes = 0;       ///< of each, packed
  std::uint64_t partitions = 0;  ///< the sender's
};

/// What a channel knows, shared by the request and the operation of each start.
class SendChannel;
class RecvChannel;
std::shared_ptr<SendChannel> make_send_channel(const GridCommRef& comm, Partitions partitions,
                                               int destination, int tag);
std::shared_ptr<RecvChannel> make_recv_channel(const GridCommRef& comm, Partitions partitions,
                                               int source, int tag);

/// What MPI_Pready and MPI_Parrived find behind a request that is active. All is called under the
/// progress lock. Throws coll::Failure.
class PartitionedOperation : public Operation {
 public:
  virtual void ready(int partition) = 0;
  virtual bool arrived(int partition) = 0;
};
std::unique_ptr<Operation> start_partitioned(const std::shared_ptr<SendChannel>& channel);
std::unique_ptr<Operation> start_partitioned(const std::shared_ptr<RecvChannel>& channel);

}  // namespace isthmus::face
