// The sending side of a partitioned channel.
#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "core/base/own_order.hpp"
#include "mpi/datatype/formats.hpp"
#include "mpi/p2p/operations.hpp"
#include "mpi/p2p/partitioned.hpp"
#include "mpi/p2p/watched.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/runs.hpp"
#include "mpi/process/traffic.hpp"

namespace isthmus::face {
namespace {

std::uint64_t next_channel() {
  if (knows_guests()) return traffic::kPartitioned | random_context();
  static std::atomic<std::uint32_t> number{0};
  return traffic::kPartitioned | static_cast<std::uint64_t>(grid()->node) << 32 | number++;
}

core::NodeId node_of(const GridComm& comm, int rank) {
  return static_cast<core::NodeId>(comm.group.node(rank));
}

class Announcing final : public Operation {
 public:
  Announcing(const GridComm& g, const PartitionedInit& init, int destination, int tag)
      : init_(core::as_little_endian(init)) {
    passive = true;
    op_.peer = node_of(g, destination);
    op_.envelope = {.context = g.context | traffic::kPartitionedInit,
                    .source = g.rank,
                    .tag = tag,
                    .size = sizeof init_};
    op_.data = std::as_bytes(std::span(&init_, 1));
    grid()->endpoint->send(op_);
  }
  bool advance() override { return op_.done(); }

 private:
  const PartitionedInit init_;
  core::SendOp op_;
};

}  // namespace

class SendChannel {
 public:
  SendChannel(GridCommRef comm_, Partitions partitions_, int destination_, int tag)
      : comm(std::move(comm_)), partitions(std::move(partitions_)), destination(destination_) {
    check_passes(*comm, destination, signature_of(partitions.type.get()).get());
    init = {.context = next_channel(),
            .bytes = packed_size(partitions.count, partitions.type.get()),
            .partitions = static_cast<std::uint64_t>(partitions.number)};
    announcing_ = std::make_unique<Announcing>(*comm, init, destination, tag);
  }
  ~SendChannel() {
    if (grid() != nullptr && !announcing_->advance()) abandon(std::move(announcing_));
  }
  Watched watched() const { return {*comm, destination}; }
  SendChannel(const SendChannel&) = delete;
  SendChannel& operator=(const SendChannel&) = delete;

  const GridCommRef comm;
  const Partitions partitions;
  const int destination;
  PartitionedInit init;

 private:
  std::unique_ptr<Operation> announcing_;
};

namespace {

/// One round, from MPI_Start to completion.
class PartitionedSend final : public PartitionedOperation {
 public:
  explicit PartitionedSend(std::shared_ptr<SendChannel> channel)
      : channel_(std::move(channel)),
        number_(static_cast<std::size_t>(channel_->partitions.number)),
        pieces_(std::make_unique<Piece[]>(number_)) {
    comm = channel_->comm->native;
    passive = true;
  }
  ~PartitionedSend() override {
    if (may_lose()) give_up();
  }

  void ready(int partition) override {
    const Partitions& all = channel_->partitions;
    all.check(partition);
    Piece& piece = pieces_[static_cast<std::size_t>(partition)];
    if (piece.data) {
      throw MpiError(MPI_ERR_ARG, "partition " + std::to_string(partition) +
                                      " has been marked as ready already");
    }
    Outgoing data(all.at(partition), all.count, all.type.get(), Copy::Flowing);
    change_for(*channel_->comm, channel_->destination, data);
    piece.data.emplace(std::move(data));
    piece.op.peer = node_of(*channel_->comm, channel_->destination);
    piece.op.envelope = {.context = channel_->init.context,
                         .source = channel_->comm->rank,
                         .tag = partition,
                         .size = 0};
    piece.data->send(piece.op);
  }

  bool arrived(int) override {
    throw MpiError(MPI_ERR_REQUEST, "the request is a partitioned send, not a receive");
  }

  bool advance() override {
    while (done_ < number_ && pieces_[done_].op.done()) ++done_;
    if (done_ < number_) {
      if (pieces_[done_].data) pieces_[done_].data->look();
      const auto loss = watched_.loss();
      return loss && give_up() && lose(*loss, "MPI partitioned send", result);
    }
    if (may_lose() && std::any_of(&pieces_[0], &pieces_[number_], has_failed)) {
      lose(loss_of_process(channel_->comm->group.node(channel_->destination)),
           "MPI partitioned send", result);
    }
    for (std::size_t i = 0; i < number_ && result.error == MPI_SUCCESS; ++i) {
      set_failure(*pieces_[i].data, result);
    }
    return true;
  }

  bool give_up() override {
    for (std::size_t i = done_; i < number_ && grid() != nullptr; ++i) {
      Piece& piece = pieces_[i];
      if (piece.op.done()) continue;
      if (piece.data) piece.data->wait();
      grid()->endpoint->give_up(piece.op);
    }
    return true;
  }

 private:
  struct Piece {
    core::SendOp op;
    std::optional<Outgoing> data;  // ends before it
  };
  static bool has_failed(const Piece& piece) { return piece.op.error == core::OpError::Failed; }

  const std::shared_ptr<SendChannel> channel_;
  const Watched watched_{channel_->watched()};
  const std::size_t number_;
  const std::unique_ptr<Piece[]> pieces_;
  std::size_t done_ = 0;  // the first `done_` are
};

}  // namespace

std::shared_ptr<SendChannel> make_send_channel(const GridCommRef& comm, Partitions partitions,
                                               int destination, int tag) {
  return std::make_shared<SendChannel>(comm, std::move(partitions), destination, tag);
}

std::unique_ptr<Operation> start_partitioned(const std::shared_ptr<SendChannel>& channel) {
  return std::make_unique<PartitionedSend>(channel);
}

}  // namespace isthmus::face
