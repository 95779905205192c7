#include "mpi/coll/party.hpp"

#include <algorithm>
#include <limits>

#include "coll/engine/buffer.hpp"
#include "coll/engine/choose.hpp"
#include "core/trace/trace.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

using coll::Bytes;
using coll::ConstBytes;
using coll::Pending;
using Sizes = std::span<const std::size_t>;

/// Messages and broadcasts of more bytes are cut; both ends know the size.
constexpr std::size_t kPiece = std::size_t{1} << 30;

template <class Each>
void in_pieces(std::size_t size, std::size_t piece, Each&& each) {
  std::size_t first = 0;
  do {
    each(first, static_cast<int>(std::min(piece, size - first)));
    first += piece;
  } while (first < size);
}

/// Calls each(member, block) for the blocks that lie one after the other in `all`.
template <class Memory, class Each>
void each_block(Memory all, Sizes sizes, Each&& each) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    each(static_cast<int>(i), all.subspan(place, sizes[i]));
    place += sizes[i];
  }
}

void* at(void* elements, std::size_t first, MPI_Aint extent) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(elements) +
                                 static_cast<std::uintptr_t>(first) *
                                     static_cast<std::uintptr_t>(extent));
}

// Chooses the native function for int counts or its large-count form.
#if ISTHMUS_LARGE_COUNT
#define ISTHMUS_BY_SIZE(large, small_call, large_call) ((large) ? (large_call) : (small_call))
#else
#define ISTHMUS_BY_SIZE(large, small_call, large_call) (small_call)
#endif

}  // namespace

int FaceParty::rank() const { return comm_.rank; }
const coll::Layout& FaceParty::layout() const { return comm_.layout; }
// Other runs have measured other grids, or have not measured.
const coll::Network& FaceParty::network() const {
  static const coll::Network unmeasured;
  if (!comm_.runs.empty()) return unmeasured;
  return comm_.within_part ? grid()->part_network : grid()->network;
}
const coll::Forced& FaceParty::forced() const { return comm_.forced; }

coll::Commons* FaceParty::commons() {
  const bool told = comm_.link != core::kAnyLink;  // the user chose the link of its bytes
  return waited_for_ && commons_ && !told ? &commons_->commons() : nullptr;
}

coll::RecentChoices* FaceParty::recent() {
  const std::uint64_t by = grid()->choices_by.load(std::memory_order_relaxed);
  if (std::exchange(recent_by_, by) != by) recent_.clear();
  return &recent_;
}

bool FaceParty::reproducible() const { return comm_.reproducible; }
bool FaceParty::attended() const { return waiting_threads.load(std::memory_order_relaxed) > 0; }

void FaceParty::chosen(const coll::Problem& problem, const coll::Choice& choice) {
  grid()->choices.count(problem, choice);
  core::trace::note<core::trace::Event::AlgorithmChosen>(
      problem.kind, choice.algorithm - coll::algorithms().data(), problem.bytes.value_or(0),
      choice.parameters.segment);
  // Less is over before a nap ends; native collectives go through many short steps instead. On one
  // host no nap is short enough (2026-11: allreduce of 128 KiB 2.3 ms with naps, 0.2 without).
  constexpr std::size_t kStream = 64 << 10;
  const bool streams = choice.algorithm->heeds.segment && problem.bytes.value_or(0) >= kStream;
  if (streams_ || !streams || grid()->one_host) return;
  streams_ = true;
  streaming_collectives.fetch_add(1, std::memory_order_relaxed);
}

void FaceParty::ended() {
  if (!streams_) return;
  streams_ = false;
  streaming_collectives.fetch_sub(1, std::memory_order_relaxed);
}

std::unique_ptr<PhaseOperation> FaceParty::operation(const char* what) {
  return std::make_unique<PhaseOperation>(what, requests_);
}

bool FaceParty::alone() const { return !comm_.has_company(); }

bool FaceParty::stays_here(ConstBytes from, Bytes to) const {
  if (!alone()) return false;
  coll::copy(from, to);
  return true;
}

/// In a run whose clusters may fail, messages inside this one go by the engine, too: it can give
/// them up. The members of a twin are all here, where nobody fails alone.
bool FaceParty::by_engine(int rank) const {
  return comm_.native_rank_of(rank) < 0 || (may_lose() && !comm_.twin);
}

Pending FaceParty::send_by_engine(int rank, int tag, ConstBytes data, bool synchronous) {
  const core::Envelope envelope{comm_.collective_context(), comm_.rank, tag, data.size()};
  return Pending(std::make_unique<RemoteSend>(comm_.group.node(rank), envelope, data, synchronous));
}

Pending FaceParty::send(int rank, int tag, ConstBytes data) {
  if (by_engine(rank)) return send_by_engine(rank, tag, data, false);
  return send_here(native.Isend, rank, traffic::collective_tag(tag), data);
}

Pending FaceParty::send_synchronous(int rank, int tag, ConstBytes data) {
  if (by_engine(rank)) return send_by_engine(rank, tag, data, true);
  return send_here(native.Issend, rank, traffic::collective_tag(tag), data);
}

/// The messages of one block on the shadow; `tag` is one within the communicator's range.
void FaceParty::send_pieces(PhaseOperation& op, decltype(&MPI_Isend) native_send, int rank, int tag,
                            ConstBytes data) {
  const TagRange& tags = comm_.tags;
  const int to = comm_.shadow_rank_of(rank);
  in_pieces(data.size(), kPiece, [&](std::size_t first, int size) {
    op.start([&](MPI_Request* request) {
      return native_send(data.data() + first, size, MPI_BYTE, to, tags.tag(tag), tags.shadow(),
                         request);
    });
  });
}

void FaceParty::receive_pieces(PhaseOperation& op, int rank, int tag, Bytes data) {
  const TagRange& tags = comm_.tags;
  const int from = comm_.shadow_rank_of(rank);
  in_pieces(data.size(), kPiece, [&](std::size_t first, int size) {
    op.start([&](MPI_Request* request) {
      return native.Irecv(data.data() + first, size, MPI_BYTE, from, tags.tag(tag), tags.shadow(),
                          request);
    });
  });
}

Pending FaceParty::send_here(decltype(&MPI_Isend) native_send, int rank, int tag, ConstBytes data) {
  auto op = operation("send");
  send_pieces(*op, native_send, rank, tag, data);
  return Pending(std::move(op));
}

Pending FaceParty::recv(int rank, int tag, Bytes data) {
  if (by_engine(rank)) {
    const core::Envelope envelope{comm_.collective_context(), rank, tag, data.size()};
    return Pending(std::make_unique<RemoteRecv>(comm_.group.node(rank), envelope, data));
  }
  auto op = operation("receive");
  op->expect(data.size());
  receive_pieces(*op, rank, traffic::collective_tag(tag), data);
  return Pending(std::move(op));
}

Pending FaceParty::local_barrier() {
  if (alone()) return {};
  auto op = operation("barrier");
  op->start([&](MPI_Request* request) { return native.Ibarrier(comm_.native, request); });
  return Pending(std::move(op));
}

Pending FaceParty::local_bcast(Bytes data, int root) {
  if (alone()) return {};
  auto op = operation("broadcast");
  in_pieces(data.size(), kPiece, [&](std::size_t first, int size) {
    op->start([&](MPI_Request* request) {
      return native.Ibcast(data.data() + first, size, MPI_BYTE, root, comm_.native, request);
    });
  });
  return Pending(std::move(op));
}

std::size_t FaceParty::longest_native() const {
#if ISTHMUS_LARGE_COUNT
  return kAnyLength;
#else
  // All blocks of a member together then fit an int, for any number of them.
  return std::numeric_limits<int>::max() / comm_.members.size();
#endif
}

void FaceParty::send_long(PhaseOperation& op, int member, ConstBytes block) {
  if (block.size() <= longest_native() || member == comm_.native_rank) return;
  send_pieces(op, native.Isend, comm_.rank_of_native(member), traffic::kLongBlock, block);
}

void FaceParty::receive_long(PhaseOperation& op, int member, Bytes block) {
  if (block.size() <= longest_native() || member == comm_.native_rank) return;
  receive_pieces(op, comm_.rank_of_native(member), traffic::kLongBlock, block);
}

void FaceParty::keep_long(ConstBytes from, Bytes to) const {
  if (from.size() > longest_native()) coll::copy(from, to);
}

Pending FaceParty::local_gather(ConstBytes mine, Bytes all, Sizes sizes, int root) {
  if (stays_here(mine, all)) return {};
  auto op = operation("gather");
  const std::size_t own = mine.size();
  op->out = SentBlocks(mine, Sizes(&own, 1), longest_native());
  if (comm_.native_rank == root) {
    op->in = ReceivedBlocks(all, sizes, longest_native());
    each_block(all, sizes, [&](int member, Bytes block) {
      receive_long(*op, member, block);
      if (member == root) keep_long(mine, block);
    });
  } else {
    send_long(*op, root, mine);
  }
  op->start([&](MPI_Request* request) {
    const ByteBlocks& in = op->in.blocks;
    return ISTHMUS_BY_SIZE(
        op->out.blocks.large || in.large,
        native.Igatherv(op->out.memory, op->out.blocks.counts[0], MPI_BYTE, op->in.memory,
                        in.counts.data(), in.places.data(), MPI_BYTE, root, comm_.native, request),
        native.Igatherv_c(op->out.memory, static_cast<MPI_Count>(own), MPI_BYTE, op->in.memory,
                          in.large_counts.data(), in.large_places.data(), MPI_BYTE, root,
                          comm_.native, request));
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_scatter(ConstBytes all, Sizes sizes, Bytes mine, int root) {
  if (stays_here(all, mine)) return {};
  auto op = operation("scatter");
  const std::size_t own = mine.size();
  op->in = ReceivedBlocks(mine, Sizes(&own, 1), longest_native());
  if (comm_.native_rank == root) {
    op->out = SentBlocks(all, sizes, longest_native());
    each_block(all, sizes, [&](int member, ConstBytes block) {
      send_long(*op, member, block);
      if (member == root) keep_long(block, mine);
    });
  } else {
    receive_long(*op, root, mine);
  }
  op->start([&](MPI_Request* request) {
    const ByteBlocks& out = op->out.blocks;
    return ISTHMUS_BY_SIZE(
        out.large || op->in.blocks.large,
        native.Iscatterv(op->out.memory, out.counts.data(), out.places.data(), MPI_BYTE,
                         op->in.memory, op->in.blocks.counts[0], MPI_BYTE, root, comm_.native,
                         request),
        native.Iscatterv_c(op->out.memory, out.large_counts.data(), out.large_places.data(),
                           MPI_BYTE, op->in.memory, static_cast<MPI_Count>(own), MPI_BYTE, root,
                           comm_.native, request));
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_allgather(ConstBytes mine, Bytes all, Sizes sizes) {
  if (stays_here(mine, all)) return {};
  auto op = operation("allgather");
  const std::size_t own = mine.size();
  op->out = SentBlocks(mine, Sizes(&own, 1), longest_native());
  op->in = ReceivedBlocks(all, sizes, longest_native());
  each_block(all, sizes, [&](int member, Bytes block) {
    receive_long(*op, member, block);
    send_long(*op, member, mine);
    if (member == comm_.native_rank) keep_long(mine, block);
  });
  op->start([&](MPI_Request* request) {
    const ByteBlocks& in = op->in.blocks;
    return ISTHMUS_BY_SIZE(
        in.large || op->out.blocks.large,
        native.Iallgatherv(op->out.memory, op->out.blocks.counts[0], MPI_BYTE, op->in.memory,
                           in.counts.data(), in.places.data(), MPI_BYTE, comm_.native, request),
        native.Iallgatherv_c(op->out.memory, static_cast<MPI_Count>(own), MPI_BYTE, op->in.memory,
                             in.large_counts.data(), in.large_places.data(), MPI_BYTE, comm_.native,
                             request));
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_alltoall(ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes) {
  if (stays_here(out, in)) return {};
  auto op = operation("alltoall");
  op->out = SentBlocks(out, out_sizes, longest_native());
  op->in = ReceivedBlocks(in, in_sizes, longest_native());
  if (op->out.blocks.large != op->in.blocks.large) {
    op->out.blocks = ByteBlocks(out_sizes, true);
    op->in.blocks = ByteBlocks(in_sizes, true);
  }
  ConstBytes kept;
  each_block(out, out_sizes, [&](int member, ConstBytes block) {
    send_long(*op, member, block);
    if (member == comm_.native_rank) kept = block;
  });
  each_block(in, in_sizes, [&](int member, Bytes block) {
    receive_long(*op, member, block);
    if (member == comm_.native_rank) keep_long(kept, block);
  });
  op->start([&](MPI_Request* request) {
    const ByteBlocks& o = op->out.blocks;
    const ByteBlocks& i = op->in.blocks;
    return ISTHMUS_BY_SIZE(
        o.large || i.large,
        native.Ialltoallv(op->out.memory, o.counts.data(), o.places.data(), MPI_BYTE, op->in.memory,
                          i.counts.data(), i.places.data(), MPI_BYTE, comm_.native, request),
        native.Ialltoallv_c(op->out.memory, o.large_counts.data(), o.large_places.data(), MPI_BYTE,
                            op->in.memory, i.large_counts.data(), i.large_places.data(), MPI_BYTE,
                            comm_.native, request));
  });
  return Pending(std::move(op));
}

namespace {

/// Typed memory for a native reduction from packed `in` to packed `out` (empty: not here).
void prepare(PhaseOperation& op, const FaceReduction& reduction, ConstBytes in, Bytes out,
             std::size_t count) {
  using Fill = TypedElements::Fill;
  // Only read.
  const Bytes operands(const_cast<std::byte*>(in.data()), in.size());
  op.operands =
      TypedElements(operands, count, reduction.type(), Fill::Unpack, reduction.signature());
  if (out.empty()) return;
  op.results = TypedElements(out, count, reduction.type(), Fill::Nothing, reduction.signature());
  op.packed_results = out;
}

}  // namespace

Pending FaceParty::local_reduce(ConstBytes in, Bytes out, std::size_t count,
                                coll::Reduction& reduction, int root) {
  if (stays_here(in, out)) return {};
  const auto& face = static_cast<const FaceReduction&>(reduction);
  auto op = operation("reduction");
  prepare(*op, face, in, comm_.native_rank == root ? out : Bytes{}, count);
  in_pieces(count, kPiece, [&](std::size_t first, int number) {
    op->start([&](MPI_Request* request) {
      return native.Ireduce(at(op->operands.buffer(), first, face.extent()),
                            at(op->results.buffer(), first, face.extent()), number, face.type(),
                            face.op(), root, comm_.native, request);
    });
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_scan(ConstBytes in, Bytes out, std::size_t count,
                              coll::Reduction& reduction) {
  if (stays_here(in, out)) return {};
  const auto& face = static_cast<const FaceReduction&>(reduction);
  auto op = operation("scan");
  prepare(*op, face, in, out, count);
  in_pieces(count, kPiece, [&](std::size_t first, int number) {
    op->start([&](MPI_Request* request) {
      return native.Iscan(at(op->operands.buffer(), first, face.extent()),
                          at(op->results.buffer(), first, face.extent()), number, face.type(),
                          face.op(), comm_.native, request);
    });
  });
  return Pending(std::move(op));
}

}  // namespace isthmus::face
