#include "mpi/party.hpp"

#include <algorithm>

#include "coll/buffer.hpp"
#include "coll/choose.hpp"
#include "mpi/comm.hpp"
#include "mpi/grid.hpp"
#include "mpi/progress.hpp"

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

ByteBlocks one(std::size_t size) { return ByteBlocks(Sizes(&size, 1)); }

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
const coll::Network& FaceParty::network() const { return grid()->network; }
const coll::Forced& FaceParty::forced() const { return comm_.forced; }
bool FaceParty::attended() const { return waiting_threads.load(std::memory_order_relaxed) > 0; }

void FaceParty::chosen(const coll::Problem& problem, const coll::Choice& choice) {
  grid()->choices.count(problem, choice);
  // Less is over before a nap ends; native collectives go through many short steps instead.
  constexpr std::size_t kStream = 64 << 10;
  const bool streams = choice.algorithm->heeds.segment && problem.bytes.value_or(0) >= kStream;
  if (streams_ || !streams) return;
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

bool FaceParty::alone() const { return comm_.members.size() == 1; }

Pending FaceParty::send(int rank, int tag, ConstBytes data) {
  const int local = comm_.native_rank_of(rank);
  if (local < 0) {
    const core::Envelope envelope{comm_.collective_context(), comm_.rank, tag, data.size()};
    return Pending(std::make_unique<RemoteSend>(comm_.group.world_rank(rank), envelope, data));
  }
  return send_here(native.Isend, local, tag, data);
}

Pending FaceParty::send_synchronous(int rank, int tag, ConstBytes data) {
  return send_here(native.Issend, comm_.native_rank_of(rank), tag, data);
}

Pending FaceParty::send_here(decltype(&MPI_Isend) native_send, int native_rank, int tag,
                             ConstBytes data) {
  auto op = operation("send");
  in_pieces(data.size(), kPiece, [&](std::size_t first, int size) {
    op->start([&](MPI_Request* request) {
      return native_send(data.data() + first, size, MPI_BYTE, native_rank, tag, comm_.shadow,
                         request);
    });
  });
  return Pending(std::move(op));
}

Pending FaceParty::recv(int rank, int tag, Bytes data) {
  const int local = comm_.native_rank_of(rank);
  if (local < 0) {
    const core::Envelope envelope{comm_.collective_context(), rank, tag, data.size()};
    return Pending(std::make_unique<RemoteRecv>(envelope, data));
  }
  auto op = operation("receive");
  op->expect(data.size());
  in_pieces(data.size(), kPiece, [&](std::size_t first, int size) {
    op->start([&](MPI_Request* request) {
      return native.Irecv(data.data() + first, size, MPI_BYTE, local, tag, comm_.shadow, request);
    });
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_barrier() {
  if (alone()) return {};
  auto op = operation("barrier");
  op->start([&](MPI_Request* request) { return native.Ibarrier(comm_.shadow, request); });
  return Pending(std::move(op));
}

Pending FaceParty::local_bcast(Bytes data, int root) {
  if (alone()) return {};
  auto op = operation("broadcast");
  in_pieces(data.size(), kPiece, [&](std::size_t first, int size) {
    op->start([&](MPI_Request* request) {
      return native.Ibcast(data.data() + first, size, MPI_BYTE, root, comm_.shadow, request);
    });
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_gather(ConstBytes mine, Bytes all, Sizes sizes, int root) {
  if (alone()) {
    coll::copy(mine, all);
    return {};
  }
  auto op = operation("gather");
  op->out = one(mine.size());
  if (comm_.native_rank == root) op->in = ByteBlocks(sizes);
  op->start([&](MPI_Request* request) {
    const auto& in = op->in;
    return ISTHMUS_BY_SIZE(
        op->out.large || in.large,
        native.Igatherv(mine.data(), op->out.counts[0], MPI_BYTE, all.data(), in.counts.data(),
                        in.places.data(), MPI_BYTE, root, comm_.shadow, request),
        native.Igatherv_c(mine.data(), static_cast<MPI_Count>(mine.size()), MPI_BYTE, all.data(),
                          in.large_counts.data(), in.large_places.data(), MPI_BYTE, root,
                          comm_.shadow, request));
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_scatter(ConstBytes all, Sizes sizes, Bytes mine, int root) {
  if (alone()) {
    coll::copy(all, mine);
    return {};
  }
  auto op = operation("scatter");
  op->in = one(mine.size());
  if (comm_.native_rank == root) op->out = ByteBlocks(sizes);
  op->start([&](MPI_Request* request) {
    const auto& out = op->out;
    return ISTHMUS_BY_SIZE(
        out.large || op->in.large,
        native.Iscatterv(all.data(), out.counts.data(), out.places.data(), MPI_BYTE, mine.data(),
                         op->in.counts[0], MPI_BYTE, root, comm_.shadow, request),
        native.Iscatterv_c(all.data(), out.large_counts.data(), out.large_places.data(), MPI_BYTE,
                           mine.data(), static_cast<MPI_Count>(mine.size()), MPI_BYTE, root,
                           comm_.shadow, request));
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_allgather(ConstBytes mine, Bytes all, Sizes sizes) {
  if (alone()) {
    coll::copy(mine, all);
    return {};
  }
  auto op = operation("allgather");
  op->in = ByteBlocks(sizes);
  op->start([&](MPI_Request* request) {
    const auto& in = op->in;
    return ISTHMUS_BY_SIZE(
        in.large,
        native.Iallgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(),
                           in.counts.data(), in.places.data(), MPI_BYTE, comm_.shadow, request),
        native.Iallgatherv_c(mine.data(), static_cast<MPI_Count>(mine.size()), MPI_BYTE, all.data(),
                             in.large_counts.data(), in.large_places.data(), MPI_BYTE, comm_.shadow,
                             request));
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_alltoall(ConstBytes out, Sizes out_sizes, Bytes in, Sizes in_sizes) {
  if (alone()) {
    coll::copy(out, in);
    return {};
  }
  auto op = operation("alltoall");
  op->out = ByteBlocks(out_sizes);
  op->in = ByteBlocks(in_sizes);
  if (op->out.large != op->in.large) {
    op->out = ByteBlocks(out_sizes, true);
    op->in = ByteBlocks(in_sizes, true);
  }
  op->start([&](MPI_Request* request) {
    const auto &o = op->out, &i = op->in;
    return ISTHMUS_BY_SIZE(
        o.large,
        native.Ialltoallv(out.data(), o.counts.data(), o.places.data(), MPI_BYTE, in.data(),
                          i.counts.data(), i.places.data(), MPI_BYTE, comm_.shadow, request),
        native.Ialltoallv_c(out.data(), o.large_counts.data(), o.large_places.data(), MPI_BYTE,
                            in.data(), i.large_counts.data(), i.large_places.data(), MPI_BYTE,
                            comm_.shadow, request));
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
  op.operands = TypedElements(operands, count, reduction.type(), Fill::Unpack);
  if (out.empty()) return;
  op.results = TypedElements(out, count, reduction.type(), Fill::Nothing);
  op.packed_results = out;
}

}  // namespace

Pending FaceParty::local_reduce(ConstBytes in, Bytes out, std::size_t count,
                                coll::Reduction& reduction, int root) {
  if (alone()) {
    coll::copy(in, out);
    return {};
  }
  const auto& face = static_cast<const FaceReduction&>(reduction);
  auto op = operation("reduction");
  prepare(*op, face, in, comm_.native_rank == root ? out : Bytes{}, count);
  in_pieces(count, kPiece, [&](std::size_t first, int number) {
    op->start([&](MPI_Request* request) {
      return native.Ireduce(at(op->operands.buffer(), first, face.extent()),
                            at(op->results.buffer(), first, face.extent()), number, face.type(),
                            face.op(), root, comm_.shadow, request);
    });
  });
  return Pending(std::move(op));
}

Pending FaceParty::local_scan(ConstBytes in, Bytes out, std::size_t count,
                              coll::Reduction& reduction) {
  if (alone()) {
    coll::copy(in, out);
    return {};
  }
  const auto& face = static_cast<const FaceReduction&>(reduction);
  auto op = operation("scan");
  prepare(*op, face, in, out, count);
  in_pieces(count, kPiece, [&](std::size_t first, int number) {
    op->start([&](MPI_Request* request) {
      return native.Iscan(at(op->operands.buffer(), first, face.extent()),
                          at(op->results.buffer(), first, face.extent()), number, face.type(),
                          face.op(), comm_.shadow, request);
    });
  });
  return Pending(std::move(op));
}

}  // namespace isthmus::face
