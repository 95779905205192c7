// MPI-4.1 section 4.2 between clusters: partitioned sends and receives.
//
// MPI_Psend_init announces a new *channel* to the receiver by a message with the program's tag, in
// a context for such messages alone: so inits match in their order. Then each partition is a
// message in the channel's own context, with the partition's number as its tag. It leaves when it
// is ready. Its place in the buffer does not depend on the receiver's partitions.
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>

#include "core/wire/message.hpp"
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

  /// Throws MpiError.
  Partitions(void* buffer_, int number_, MPI_Count count_, MPI_Datatype type_);
  /// The address of a partition's elements.
  std::byte* at(int partition) const { return buffer + partition * count * extent; }
  /// Throws MpiError for an invalid partition.
  void check(int partition) const;
};

/// The sender's message when it makes a channel.
struct PartitionedInit {
  std::uint64_t context = 0;     ///< of the partitions
  std::uint64_t bytes = 0;       ///< of each, packed
  std::uint64_t partitions = 0;  ///< the sender's
  auto numbers() { return std::tie(context, bytes, partitions); }
};

/// A channel's state, shared by the request and the operation of each start.
class SendChannel;
class RecvChannel;
std::shared_ptr<SendChannel> make_send_channel(const GridCommRef& comm, Partitions partitions,
                                               int destination, int tag);
std::shared_ptr<RecvChannel> make_recv_channel(const GridCommRef& comm, Partitions partitions,
                                               int source, int tag);

/// The operation behind an active request, for MPI_Pready and MPI_Parrived. All is called under the
/// progress lock. Throws MpiError.
class PartitionedOperation : public Operation {
 public:
  virtual void ready(int partition) = 0;
  virtual bool arrived(int partition) = 0;
};
std::unique_ptr<Operation> start_partitioned(const std::shared_ptr<SendChannel>& channel);
std::unique_ptr<Operation> start_partitioned(const std::shared_ptr<RecvChannel>& channel);

}  // namespace isthmus::face
