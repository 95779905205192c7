// MPI-4.1 sections 6.7 and 6.8: gather to all, all to all.
#include "mpi/coll/coll_blocks.hpp"
#include "mpi/coll/coll_checks.hpp"
#include "mpi/coll/collective_forms.hpp"
#include "mpi/coll/inter_forms.hpp"
#include "mpi/process/shield.hpp"

namespace isthmus::face {
namespace {

class Allgather final : public Collective {
 public:
  Allgather(const Call& call, OutBlocks mine, InBlocks all)
      : Collective(call.comm, call.function), mine_(std::move(mine)), all_(std::move(all)) {}

 private:
  coll::Task start(coll::Party& party) override {
    return coll::allgather(party, mine_.bytes(), all_.bytes(), all_.sizes());
  }
  void finish() override { all_.finish(); }
  std::optional<Outline> outline() const override {
    Outline outline{.kind = Outline::Kind::Allgather};
    outline.set_sizes(all_.sizes());
    return outline;
  }

  OutBlocks mine_;
  InBlocks all_;
};

class Alltoall final : public Collective {
 public:
  Alltoall(const Call& call, OutBlocks out, InBlocks in, coll::Blocks blocks)
      : Collective(call.comm, call.function),
        out_(std::move(out)),
        in_(std::move(in)),
        blocks_(blocks) {}

 private:
  coll::Task start(coll::Party& party) override {
    return coll::alltoall(party, out_.bytes(), out_.sizes(), in_.bytes(), in_.sizes(), blocks_);
  }
  void finish() override { in_.finish(); }
  std::optional<Outline> outline() const override {
    Outline outline{.kind = Outline::Kind::Alltoall, .even = blocks_ == coll::Blocks::Even};
    if (outline.even) {
      outline.count = in_.sizes().front();
    } else {
      outline.out = Outline::edges(out_.sizes());
      outline.in = Outline::edges(in_.sizes());
    }
    return outline;
  }

  OutBlocks out_;
  InBlocks in_;
  coll::Blocks blocks_;
};

int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
              std::vector<Block> received, const Call& call) {
  if (call.comm->inter) {
    return inter_forms::allgather(sendbuf, sendcount, sendtype, std::move(received), call);
  }
  const Block own = received[static_cast<std::size_t>(call.comm->rank)];
  OutBlocks mine;
  if (sendbuf == MPI_IN_PLACE) {
    mine = OutBlocks(*call.comm, std::vector<Block>{own}, Copy::Always);
  } else {
    check_data(*call.comm, sendcount, sendtype);
    if (sendcount > 0 && sendcount == own.count && sendtype == own.type) {
      check_not_one(sendbuf, own.address);
    }
    mine = OutBlocks(*call.comm, one_block(sendbuf, sendcount, sendtype));
  }
  InBlocks all(*call.comm, std::move(received), !call.blocking());
  require(all.sizes()[static_cast<std::size_t>(call.comm->rank)] == mine.bytes().size(),
          MPI_ERR_TRUNCATE, "a rank's own contribution is not of the size that it is to receive");
  return launch(std::make_unique<Allgather>(call, std::move(mine), std::move(all)), call);
}

Copy copy_of(const void* sendbuf, const void* recvbuf) {
  return are_one(sendbuf, recvbuf) ? Copy::Always : Copy::IfNeeded;
}

/// `sent` is the memory for receiving with MPI_IN_PLACE. `copy`: received data may lie there, too.
int alltoall(const std::vector<Block>& sent, std::vector<Block> received, bool in_place, Copy copy,
             coll::Blocks blocks, const Call& call) {
  if (call.comm->inter) {
    require(!in_place, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed between two sides");
    return inter_forms::alltoall(sent, std::move(received), call);
  }
  OutBlocks out(*call.comm, sent, in_place ? Copy::Always : copy);
  InBlocks in(*call.comm, std::move(received), !call.blocking());
  const auto me = static_cast<std::size_t>(call.comm->rank);
  require(out.sizes()[me] == in.sizes()[me], MPI_ERR_TRUNCATE,
          "a rank's block for itself is not of the size that it is to receive");
  return launch(std::make_unique<Alltoall>(call, std::move(out), std::move(in), blocks), call);
}

}  // namespace

namespace forms {

int allgather_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, const Call& call) {
  return collectively(call, [&] {
    check_data(*call.comm, recvcount, recvtype);
    check_not_in_place(recvbuf);
    return allgather(sendbuf, sendcount, sendtype,
                     even_blocks(recvbuf, recvcount, recvtype, call.comm->size), call);
  });
}

template <class Count, class Place>
int allgather_placed(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const Count* counts, const Place* places, MPI_Datatype recvtype,
                     const Call& call) {
  return collectively(call, [&] {
    check_blocks(*call.comm, call.comm->size, counts, places, recvtype);
    check_not_in_place(recvbuf);
    return allgather(sendbuf, sendcount, sendtype,
                     placed_blocks(recvbuf, counts, places, recvtype, call.comm->size), call);
  });
}

int alltoall_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, const Call& call) {
  return collectively(call, [&] {
    check_data(*call.comm, recvcount, recvtype);
    check_not_in_place(recvbuf);
    const bool in_place = sendbuf == MPI_IN_PLACE;
    if (!in_place) check_data(*call.comm, sendcount, sendtype);
    if (recvcount > 0 && sendcount == recvcount && sendtype == recvtype) {
      check_not_one(sendbuf, recvbuf);
    }
    const int ranks = call.comm->size;
    auto received = even_blocks(recvbuf, recvcount, recvtype, ranks);
    const auto sent = in_place ? received : even_blocks(sendbuf, sendcount, sendtype, ranks);
    return alltoall(sent, std::move(received), in_place, copy_of(sendbuf, recvbuf),
                    coll::Blocks::Even, call);
  });
}

template <class Count, class Place>
int alltoall_placed(const void* sendbuf, const Count* sendcounts, const Place* sendplaces,
                    MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                    const Place* recvplaces, MPI_Datatype recvtype, const Call& call) {
  return collectively(call, [&] {
    check_blocks(*call.comm, call.comm->size, recvcounts, recvplaces, recvtype);
    check_not_in_place(recvbuf);
    const bool in_place = sendbuf == MPI_IN_PLACE;
    if (!in_place) check_blocks(*call.comm, call.comm->size, sendcounts, sendplaces, sendtype);
    if (sendcounts == recvcounts && sendplaces == recvplaces && sendtype == recvtype) {
      check_not_one(sendbuf, recvbuf);
    }
    const int ranks = call.comm->size;
    auto received = placed_blocks(recvbuf, recvcounts, recvplaces, recvtype, ranks);
    const auto sent =
        in_place ? received : placed_blocks(sendbuf, sendcounts, sendplaces, sendtype, ranks);
    return alltoall(sent, std::move(received), in_place, copy_of(sendbuf, recvbuf),
                    coll::Blocks::Uneven, call);
  });
}

template <class Count, class Place>
int alltoall_typed(const void* sendbuf, const Count* sendcounts, const Place* sendplaces,
                   const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts,
                   const Place* recvplaces, const MPI_Datatype* recvtypes, const Call& call) {
  return collectively(call, [&] {
    const int ranks = call.comm->size;
    check_typed_blocks(*call.comm, ranks, recvcounts, recvplaces, recvtypes);
    check_not_in_place(recvbuf);
    const bool in_place = sendbuf == MPI_IN_PLACE;
    if (!in_place) check_typed_blocks(*call.comm, ranks, sendcounts, sendplaces, sendtypes);
    if (sendcounts == recvcounts && sendplaces == recvplaces && sendtypes == recvtypes) {
      check_not_one(sendbuf, recvbuf);
    }
    auto received = typed_blocks(recvbuf, recvcounts, recvplaces, recvtypes, ranks);
    const auto sent =
        in_place ? received : typed_blocks(sendbuf, sendcounts, sendplaces, sendtypes, ranks);
    return alltoall(sent, std::move(received), in_place, copy_of(sendbuf, recvbuf),
                    coll::Blocks::Uneven, call);
  });
}

template decltype(allgather_placed<int, int>) allgather_placed<int, int>;
template decltype(alltoall_placed<int, int>) alltoall_placed<int, int>;
template decltype(alltoall_typed<int, int>) alltoall_typed<int, int>;
#if ISTHMUS_LARGE_COUNT
template decltype(allgather_placed<MPI_Count, MPI_Aint>) allgather_placed<MPI_Count, MPI_Aint>;
template decltype(alltoall_placed<MPI_Count, MPI_Aint>) alltoall_placed<MPI_Count, MPI_Aint>;
template decltype(alltoall_typed<MPI_Count, MPI_Aint>) alltoall_typed<MPI_Count, MPI_Aint>;
#endif

}  // namespace forms
}  // namespace isthmus::face
