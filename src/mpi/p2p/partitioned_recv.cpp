// The receiving side of a partitioned channel.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/own_order.hpp"
#include "mpi/datatype/formats.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/p2p/operations.hpp"
#include "mpi/p2p/partitioned.hpp"
#include "mpi/p2p/watched.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"

namespace isthmus::face {
namespace {

/// Keeps its place among the inits even if its request is freed before the sender's is made.
class Awaiting final : public Operation {
 public:
  Awaiting(const GridComm& g, int source, int tag) {
    passive = true;
    op_.context = g.context | traffic::kPartitionedInit;
    op_.source = source;
    op_.tag = tag;
    op_.from = static_cast<core::NodeId>(g.group.node(source));
    op_.buffer = reinterpret_cast<std::byte*>(&init_);
    op_.capacity = sizeof init_;
    grid()->endpoint->recv(op_);
  }
  bool advance() override { return op_.done(); }
  /// Empty: it has not come.
  std::optional<PartitionedInit> init() const {
    if (!op_.done() || op_.error == core::OpError::Failed) return std::nullopt;
    return core::as_little_endian(init_);
  }

 private:
  PartitionedInit init_;
  core::RecvOp op_;
};

}  // namespace

class RecvChannel {
 public:
  RecvChannel(GridCommRef comm_, Partitions partitions_, int source_, int tag_)
      : comm(std::move(comm_)), partitions(std::move(partitions_)), source(source_), tag(tag_) {
    const MPI_Datatype type = partitions.type.get();
    check_passes(*comm, source, signature_of(type).get());
    bytes = packed_size(partitions.count, type);
    in_place = is_contiguous(partitions.count * partitions.number, type, &lower) &&
               !on_device(partitions.buffer + lower) && format() == own_format();
    awaiting_ = std::make_unique<Awaiting>(*comm, source, tag);
  }
  ~RecvChannel() {
    if (grid() != nullptr && !awaiting_->advance()) abandon(std::move(awaiting_));
  }
  RecvChannel(const RecvChannel&) = delete;
  RecvChannel& operator=(const RecvChannel&) = delete;

  /// Empty: the sender's MPI_Psend_init has not been heard of.
  std::optional<PartitionedInit> init() const { return awaiting_->init(); }
  core::Format format() const { return format_between(comm->group.node(source)); }
  std::size_t capacity() const { return bytes * static_cast<std::size_t>(partitions.number); }

  const GridCommRef comm;
  const Partitions partitions;
  const int source, tag;
  std::size_t bytes = 0;  ///< of each of my partitions, packed
  bool in_place = false;  ///< all of them are one run of memory, which begins at `lower`
  MPI_Aint lower = 0;

 private:
  std::unique_ptr<Awaiting> awaiting_;
};

namespace {

/// One round, from MPI_Start to completion.
class PartitionedReceive final : public PartitionedOperation {
 public:
  explicit PartitionedReceive(std::shared_ptr<RecvChannel> channel)
      : channel_(std::move(channel)),
        unpacked_(static_cast<std::size_t>(channel_->partitions.number)) {
    comm = channel_->comm->native;
    if (channel_->in_place) {
      memory_ = channel_->partitions.buffer + channel_->lower;
    } else {
      packed_ = std::make_unique_for_overwrite<std::byte[]>(channel_->capacity());
      memory_ = packed_.get();
    }
    // If the sender is not known yet, another thread must advance this while its own thread waits
    // for something else.
    passive = post();
  }
  ~PartitionedReceive() override {
    if (may_lose()) give_up();
  }

  void ready(int) override {
    throw MpiError(MPI_ERR_REQUEST, "the request is a partitioned receive, not a send");
  }

  bool arrived(int partition) override {
    channel_->partitions.check(partition);
    if (!post() || !has_come(static_cast<std::size_t>(partition))) return false;
    if (const core::RecvOp* const op = spoilt()) {
      throw MpiError(MPI_ERR_OTHER, spoilt_words(*op, channel_->tag));
    }
    unpack(static_cast<std::size_t>(partition));
    return true;
  }

  bool advance() override {
    if (!post() || !has_come(0, number_)) {
      const auto loss = watched_.loss();
      return loss && give_up() && lose(*loss, kWhat, result);
    }
    if (may_lose() && std::any_of(&pieces_[0], &pieces_[number_], has_failed)) {
      return lose(loss_of_process(channel_->comm->group.node(channel_->source)), kWhat, result);
    }
    result.source = channel_->source;
    result.tag = channel_->tag;
    if (const core::RecvOp* const op = spoilt()) {
      set_spoilt(*op, kWhat, result);
      return true;
    }
    for (std::size_t i = 0; i < unpacked_.size(); ++i) unpack(i);
    const std::uint64_t size = piece_bytes_ * number_;
    result.bytes = size;
    if (size > channel_->capacity()) set_truncated(result, size, channel_->capacity());
    return true;
  }

  bool give_up() override {
    for (std::size_t i = come_; i < number_ && grid() != nullptr; ++i) {
      if (!pieces_[i].done()) grid()->endpoint->give_up(pieces_[i]);
    }
    return true;
  }

 private:
  static constexpr const char* kWhat = "MPI partitioned receive";
  static bool has_failed(const core::RecvOp& op) { return op.error == core::OpError::Failed; }

  /// A partition that came without its data; null: none has.
  const core::RecvOp* spoilt() const {
    for (std::size_t i = 0; i < number_; ++i) {
      const core::RecvOp& op = pieces_[i];
      if (op.done() && op.error == core::OpError::Spoilt) return &op;
    }
    return nullptr;
  }

  /// Has the sender's partitions received; false while they are not known.
  bool post() {
    if (pieces_ != nullptr) return true;
    const std::optional<PartitionedInit> init = channel_->init();
    if (!init) return false;
    number_ = init->partitions;
    piece_bytes_ = init->bytes;
    pieces_ = std::make_unique<core::RecvOp[]>(number_);
    for (std::size_t i = 0; i < number_; ++i) {
      const std::size_t begin = std::min(i * piece_bytes_, channel_->capacity());
      core::RecvOp& op = pieces_[i];
      op.context = init->context;
      op.source = channel_->source;
      op.tag = static_cast<int>(i);
      op.from = static_cast<core::NodeId>(channel_->comm->group.node(channel_->source));
      op.buffer = memory_ + begin;
      op.capacity = std::min(piece_bytes_, channel_->capacity() - begin);
      grid()->endpoint->recv(op);
    }
    return true;
  }

  /// The sender's partitions from `first` up to `end` have.
  bool has_come(std::size_t first, std::size_t end) {
    while (come_ < number_ && pieces_[come_].done()) ++come_;
    if (end <= come_) return true;
    return std::all_of(&pieces_[std::max(first, come_)], &pieces_[end],
                       [](const core::RecvOp& op) { return op.done(); });
  }
  /// All that a partition of mine holds has.
  bool has_come(std::size_t partition) {
    if (channel_->bytes == 0 || piece_bytes_ == 0) return has_come(0, number_);
    const std::size_t begin = partition * channel_->bytes;
    const std::size_t end = (begin + channel_->bytes + piece_bytes_ - 1) / piece_bytes_;
    return has_come(std::min(begin / piece_bytes_, number_), std::min(end, number_));
  }

  void unpack(std::size_t partition) {
    if (channel_->in_place || unpacked_[partition]) return;
    unpacked_[partition] = true;
    const Partitions& all = channel_->partitions;
    const std::size_t begin = partition * channel_->bytes;
    const std::size_t sent = number_ * piece_bytes_;
    const std::size_t size = begin < sent ? std::min(channel_->bytes, sent - begin) : 0;
    Incoming part(all.at(static_cast<int>(partition)), all.count, all.type.get());
    if (size > 0) std::memcpy(part.bytes().data(), memory_ + begin, size);
    part.change_format(channel_->format(), own_format());
    const int code = part.finish(size);
    if (result.error == MPI_SUCCESS) result.error = code;
  }

  const std::shared_ptr<RecvChannel> channel_;
  const Watched watched_{*channel_->comm, channel_->source};
  std::unique_ptr<std::byte[]> packed_;
  std::byte* memory_ = nullptr;
  std::unique_ptr<core::RecvOp[]> pieces_;  // one for each partition of the sender
  std::size_t number_ = 0;                  // of them
  std::size_t piece_bytes_ = 0;             // of each
  std::size_t come_ = 0;                    // the first `come_` are done
  std::vector<bool> unpacked_;              // of my partitions
};

}  // namespace

std::shared_ptr<RecvChannel> make_recv_channel(const GridCommRef& comm, Partitions partitions,
                                               int source, int tag) {
  return std::make_shared<RecvChannel>(comm, std::move(partitions), source, tag);
}

std::unique_ptr<Operation> start_partitioned(const std::shared_ptr<RecvChannel>& channel) {
  return std::make_unique<PartitionedReceive>(channel);
}

}  // namespace isthmus::face
