// MPI-4.1 sections 6.5 and 6.6: gather and scatter.
#include <memory>
#include <optional>

#include "coll/engine/portion.hpp"
#include "core/base/kept_memory.hpp"
#include "mpi/coll/coll_blocks.hpp"
#include "mpi/coll/coll_checks.hpp"
#include "mpi/coll/collective_forms.hpp"
#include "mpi/coll/inter_forms.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

class Gather final : public Collective {
 public:
  /// `all` and `sizes` as coll::gather wants them.
  Gather(const Call& call, OutBlocks mine, InBlocks all, coll::Sizes sizes, coll::Blocks blocks,
         int root)
      : Collective(call.comm, call.function),
        mine_(std::move(mine)),
        all_(std::move(all)),
        sizes_(std::move(sizes)),
        blocks_(blocks),
        root_(root) {}

 private:
  coll::Task start(coll::Party& party) override {
    return coll::gather(party, mine_.bytes(), all_.bytes(), sizes_, root_, blocks_);
  }
  void finish() override { all_.finish(); }
  std::optional<Outline> outline() const override {
    Outline outline{.kind = Outline::Kind::Gather,
                    .even = blocks_ == coll::Blocks::Even,
                    .root = root_,
                    .count = mine_.bytes().size()};
    if (outline.even) return outline;
    outline.in = Outline::edges(all_.sizes());
    if (outline.in.empty()) outline.out.push_back({root_, mine_.bytes().size()});
    return outline;
  }

  OutBlocks mine_;
  InBlocks all_;
  coll::Sizes sizes_;
  coll::Blocks blocks_;
  int root_;
};

class Scatter final : public Collective {
 public:
  Scatter(const Call& call, OutBlocks all, coll::Sizes sizes, coll::Blocks blocks, InBlocks mine,
          std::size_t discarded, int root)
      : Collective(call.comm, call.function),
        all_(std::move(all)),
        sizes_(std::move(sizes)),
        blocks_(blocks),
        mine_(std::move(mine)),
        root_(root) {
    if (discarded > 0) own_block_ = core::KeptBlock(discarded);
    discarded_ = {own_block_.get(), discarded};
  }

 private:
  coll::Task start(coll::Party& party) override {
    const coll::Bytes mine = own_block_ ? discarded_ : mine_.bytes();
    return coll::scatter(party, all_.bytes(), sizes_, mine, root_, blocks_);
  }
  void finish() override { mine_.finish(); }
  std::optional<Outline> outline() const override {
    Outline outline{
        .kind = Outline::Kind::Scatter, .even = blocks_ == coll::Blocks::Even, .root = root_};
    if (outline.even) {
      outline.count = sizes_.front();
      return outline;
    }
    outline.out = Outline::edges(all_.sizes());
    if (outline.out.empty()) outline.in.push_back({root_, mine_.bytes().size()});
    return outline;
  }

  OutBlocks all_;
  coll::Sizes sizes_;
  coll::Blocks blocks_;
  InBlocks mine_;
  core::KeptBlock own_block_;  // the root's with MPI_IN_PLACE: it stays in place
  coll::Bytes discarded_;
  int root_;
};

/// The root's block for itself, and its other end.
void check_own(const void* buffer, MPI_Count count, MPI_Datatype type, const Block& own) {
  if (count > 0 && count == own.count && type == own.type) check_not_one(buffer, own.address);
}

/// The part of gathers that the forms share; `received` is empty but at the root. `even`: every
/// rank's contribution is of one size, which this rank knows.
int gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
           std::vector<Block> received, bool even, int root, const Call& call) {
  const auto blocks = even ? coll::Blocks::Even : coll::Blocks::Uneven;
  if (call.comm->inter) {
    return inter_forms::gather(sendbuf, sendcount, sendtype, std::move(received), blocks, root,
                               call);
  }
  check_root(*call.comm, root);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const bool at_root = call.comm->rank == root;
  const auto ranks = static_cast<std::size_t>(call.comm->size);
  OutBlocks mine;
  if (in_place) {
    require(at_root, MPI_ERR_BUFFER, "MPI_IN_PLACE is allowed at the root only");
    mine = OutBlocks(*call.comm, std::vector<Block>{received[static_cast<std::size_t>(root)]},
                     Copy::Always);
  } else {
    check_data(*call.comm, sendcount, sendtype);
    if (at_root) check_own(sendbuf, sendcount, sendtype, received[static_cast<std::size_t>(root)]);
    mine = OutBlocks(*call.comm, one_block(sendbuf, sendcount, sendtype));
  }
  InBlocks all(*call.comm, std::move(received), !call.blocking());
  coll::Sizes sizes;
  if (at_root) {
    sizes = all.sizes();
    require(sizes[static_cast<std::size_t>(root)] == mine.bytes().size(), MPI_ERR_TRUNCATE,
            "the root's own contribution is not of the size that it is to receive");
  } else if (even) {
    sizes.assign(ranks, mine.bytes().size());
  }
  return launch(std::make_unique<Gather>(call, std::move(mine), std::move(all), std::move(sizes),
                                         blocks, root),
                call);
}

int scatter(const std::vector<Block>& sent, void* recvbuf, MPI_Count recvcount,
            MPI_Datatype recvtype, bool even, int root, const Call& call) {
  const auto blocks = even ? coll::Blocks::Even : coll::Blocks::Uneven;
  if (call.comm->inter) {
    return inter_forms::scatter(sent, recvbuf, recvcount, recvtype, blocks, root, call);
  }
  check_root(*call.comm, root);
  const bool in_place = recvbuf == MPI_IN_PLACE;
  const bool at_root = call.comm->rank == root;
  const auto ranks = static_cast<std::size_t>(call.comm->size);
  OutBlocks all(*call.comm, sent);
  InBlocks mine;
  std::size_t discarded = 0;
  if (in_place) {
    require(at_root, MPI_ERR_BUFFER, "MPI_IN_PLACE is allowed at the root only");
    discarded = all.sizes()[static_cast<std::size_t>(root)];
  } else {
    check_data(*call.comm, recvcount, recvtype);
    if (at_root) check_own(recvbuf, recvcount, recvtype, sent[static_cast<std::size_t>(root)]);
    mine = InBlocks(*call.comm, one_block(recvbuf, recvcount, recvtype), !call.blocking());
  }
  coll::Sizes sizes;
  if (at_root) {
    sizes = all.sizes();
    require(in_place || sizes[static_cast<std::size_t>(root)] == mine.bytes().size(),
            MPI_ERR_TRUNCATE, "the root's own block is not of the size that it is to receive");
  } else if (even) {
    sizes.assign(ranks, mine.bytes().size());
  }
  return launch(std::make_unique<Scatter>(call, std::move(all), std::move(sizes), blocks,
                                          std::move(mine), discarded, root),
                call);
}

}  // namespace

namespace forms {

int gather_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, int root, const Call& call) {
  return collectively(call, [&] {
    std::vector<Block> received;
    if (is_root(*call.comm, root)) {
      check_data(*call.comm, recvcount, recvtype);
      check_not_in_place(recvbuf);
      received = even_blocks(recvbuf, recvcount, recvtype, call.comm->size);
    }
    return gather(sendbuf, sendcount, sendtype, std::move(received), true, root, call);
  });
}

template <class Count, class Place>
int gather_placed(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const Count* counts, const Place* places, MPI_Datatype recvtype, int root,
                  const Call& call) {
  return collectively(call, [&] {
    std::vector<Block> received;
    if (is_root(*call.comm, root)) {
      check_blocks(*call.comm, call.comm->size, counts, places, recvtype);
      check_not_in_place(recvbuf);
      received = placed_blocks(recvbuf, counts, places, recvtype, call.comm->size);
    }
    return gather(sendbuf, sendcount, sendtype, std::move(received), false, root, call);
  });
}

int scatter_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, const Call& call) {
  return collectively(call, [&] {
    std::vector<Block> sent;
    if (is_root(*call.comm, root)) {
      check_data(*call.comm, sendcount, sendtype);
      check_not_in_place(sendbuf);
      sent = even_blocks(sendbuf, sendcount, sendtype, call.comm->size);
    }
    return scatter(sent, recvbuf, recvcount, recvtype, true, root, call);
  });
}

template <class Count, class Place>
int scatter_placed(const void* sendbuf, const Count* counts, const Place* places,
                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                   int root, const Call& call) {
  return collectively(call, [&] {
    std::vector<Block> sent;
    if (is_root(*call.comm, root)) {
      check_blocks(*call.comm, call.comm->size, counts, places, sendtype);
      check_not_in_place(sendbuf);
      sent = placed_blocks(sendbuf, counts, places, sendtype, call.comm->size);
    }
    return scatter(sent, recvbuf, recvcount, recvtype, false, root, call);
  });
}

template decltype(gather_placed<int, int>) gather_placed<int, int>;
template decltype(scatter_placed<int, int>) scatter_placed<int, int>;
#if ISTHMUS_LARGE_COUNT
template decltype(gather_placed<MPI_Count, MPI_Aint>) gather_placed<MPI_Count, MPI_Aint>;
template decltype(scatter_placed<MPI_Count, MPI_Aint>) scatter_placed<MPI_Count, MPI_Aint>;
#endif

}  // namespace forms
}  // namespace isthmus::face
