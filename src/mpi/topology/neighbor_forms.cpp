// MPI-4.1 section 8.6: neighbourhood collectives.
#include "mpi/topology/neighbor_forms.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "mpi/coll/coll_blocks.hpp"
#include "mpi/coll/coll_checks.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/process/require.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/topology/neighbors.hpp"

namespace isthmus::face {
namespace {

/// A message along each edge. Blocks are by neighbour; those of MPI_PROC_NULL are left alone.
class NeighborExchange final : public Collective {
 public:
  NeighborExchange(const Call& call, Neighbors neighbors)
      : Collective(call.comm, call.function), neighbors_(std::move(neighbors)) {}

  void send_to_all(const Block& block) {
    const coll::ConstBytes data = packed(block);
    for (const int to : neighbors_.destinations) {
      if (to != MPI_PROC_NULL) out_.push_back({to, data});
    }
  }

  void send(const std::vector<Block>& blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const int to = neighbors_.destinations[i];
      if (to != MPI_PROC_NULL) out_.push_back({to, packed(blocks[i])});
    }
  }

  void receive(const std::vector<Block>& blocks) {
    for (const std::size_t i : neighbors_.arrivals) {
      const int from = neighbors_.sources[i];
      if (from != MPI_PROC_NULL) in_.push_back({from, room_for(blocks[i])});
    }
  }

  /// This process is at both ends of its edges to itself.
  void check_own() const {
    const int me = grid_comm().rank;
    std::vector<std::size_t> out, in;
    for (const coll::OutEdge& edge : out_) {
      if (edge.to == me) out.push_back(edge.data.size());
    }
    for (const coll::InEdge& edge : in_) {
      if (edge.from == me) in.push_back(edge.data.size());
    }
    require(out.size() == in.size(), MPI_ERR_TOPOLOGY,
            "the topology has an edge of this rank to itself at one of its ends only");
    require(out == in, MPI_ERR_TRUNCATE,
            "a rank's block for itself is not of the size that it is to receive");
  }

 private:
  coll::ConstBytes packed(const Block& b) {
    if (b.count == 0) return {};
    Outgoing& outgoing = sent_.emplace_back(b.address, b.count, b.type);
    if (outgoing.signature()) outgoing.change_format(own_format(), format_among(grid_comm()));
    return outgoing.bytes();
  }
  coll::Bytes room_for(const Block& b) {
    if (b.count == 0) return {};
    Incoming& incoming = received_.emplace_back(const_cast<void*>(b.address), b.count, b.type);
    if (incoming.signature()) incoming.change_format(format_among(grid_comm()), own_format());
    return incoming.bytes();
  }

  coll::Task start(coll::Party& party) override { return coll::neighbors(party, out_, in_); }
  std::optional<Outline> outline() const override {
    Outline outline{.kind = Outline::Kind::Neighbors};
    for (const coll::OutEdge& edge : out_) outline.out.push_back({edge.to, edge.data.size()});
    for (const coll::InEdge& edge : in_) outline.in.push_back({edge.from, edge.data.size()});
    return outline;
  }
  void finish() override {
    for (Incoming& incoming : received_) {
      const int code = incoming.finish(incoming.bytes().size());
      require_success(code, "the data could not be unpacked");
    }
  }

  Neighbors neighbors_;
  std::vector<Outgoing> sent_;
  std::vector<Incoming> received_;
  std::vector<coll::OutEdge> out_;
  std::vector<coll::InEdge> in_;
};

/// The neighbours, and how many blocks go out and come in.
struct Degrees {
  Neighbors neighbors;
  int out, in;

  Degrees(const Call& call, const void* sendbuf, const void* recvbuf)
      : neighbors(neighbors_of(*call.comm)),
        out(static_cast<int>(neighbors.destinations.size())),
        in(static_cast<int>(neighbors.sources.size())) {
    check_not_in_place(sendbuf);
    check_not_in_place(recvbuf);
  }
};

int allgather(Neighbors neighbors, const Block& sent, const std::vector<Block>& received,
              const Call& call) {
  auto work = std::make_unique<NeighborExchange>(call, std::move(neighbors));
  work->send_to_all(sent);
  work->receive(received);
  work->check_own();
  return launch(std::move(work), call);
}

int alltoall(Neighbors neighbors, const std::vector<Block>& sent,
             const std::vector<Block>& received, const Call& call) {
  auto work = std::make_unique<NeighborExchange>(call, std::move(neighbors));
  work->send(sent);
  work->receive(received);
  work->check_own();
  return launch(std::move(work), call);
}

}  // namespace

namespace forms {

int neighbor_allgather_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            const Call& call) {
  return collectively(call, [&] {
    Degrees d(call, sendbuf, recvbuf);
    check_data(*call.comm, sendcount, sendtype);
    check_data(*call.comm, recvcount, recvtype);
    return allgather(std::move(d.neighbors), {sendbuf, sendcount, sendtype},
                     even_blocks(recvbuf, recvcount, recvtype, d.in), call);
  });
}

template <class Count, class Place>
int neighbor_allgather_placed(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const Count* counts, const Place* places,
                              MPI_Datatype recvtype, const Call& call) {
  return collectively(call, [&] {
    Degrees d(call, sendbuf, recvbuf);
    check_data(*call.comm, sendcount, sendtype);
    check_blocks(*call.comm, d.in, counts, places, recvtype);
    return allgather(std::move(d.neighbors), {sendbuf, sendcount, sendtype},
                     placed_blocks(recvbuf, counts, places, recvtype, d.in), call);
  });
}

int neighbor_alltoall_even(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                           const Call& call) {
  return collectively(call, [&] {
    Degrees d(call, sendbuf, recvbuf);
    check_data(*call.comm, sendcount, sendtype);
    check_data(*call.comm, recvcount, recvtype);
    return alltoall(std::move(d.neighbors), even_blocks(sendbuf, sendcount, sendtype, d.out),
                    even_blocks(recvbuf, recvcount, recvtype, d.in), call);
  });
}

template <class Count, class Place>
int neighbor_alltoall_placed(const void* sendbuf, const Count* sendcounts, const Place* sendplaces,
                             MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                             const Place* recvplaces, MPI_Datatype recvtype, const Call& call) {
  return collectively(call, [&] {
    Degrees d(call, sendbuf, recvbuf);
    check_blocks(*call.comm, d.out, sendcounts, sendplaces, sendtype);
    check_blocks(*call.comm, d.in, recvcounts, recvplaces, recvtype);
    return alltoall(std::move(d.neighbors),
                    placed_blocks(sendbuf, sendcounts, sendplaces, sendtype, d.out),
                    placed_blocks(recvbuf, recvcounts, recvplaces, recvtype, d.in), call);
  });
}

template <class Count>
int neighbor_alltoall_typed(const void* sendbuf, const Count* sendcounts,
                            const MPI_Aint* sendplaces, const MPI_Datatype* sendtypes,
                            void* recvbuf, const Count* recvcounts, const MPI_Aint* recvplaces,
                            const MPI_Datatype* recvtypes, const Call& call) {
  return collectively(call, [&] {
    Degrees d(call, sendbuf, recvbuf);
    check_typed_blocks(*call.comm, d.out, sendcounts, sendplaces, sendtypes);
    check_typed_blocks(*call.comm, d.in, recvcounts, recvplaces, recvtypes);
    return alltoall(std::move(d.neighbors),
                    typed_blocks(sendbuf, sendcounts, sendplaces, sendtypes, d.out),
                    typed_blocks(recvbuf, recvcounts, recvplaces, recvtypes, d.in), call);
  });
}

template decltype(neighbor_allgather_placed<int, int>) neighbor_allgather_placed<int, int>;
template decltype(neighbor_alltoall_placed<int, int>) neighbor_alltoall_placed<int, int>;
template decltype(neighbor_alltoall_typed<int>) neighbor_alltoall_typed<int>;
#if ISTHMUS_LARGE_COUNT
template decltype(neighbor_allgather_placed<MPI_Count, MPI_Aint>)
    neighbor_allgather_placed<MPI_Count, MPI_Aint>;
template decltype(neighbor_alltoall_placed<MPI_Count, MPI_Aint>)
    neighbor_alltoall_placed<MPI_Count, MPI_Aint>;
template decltype(neighbor_alltoall_typed<MPI_Count>) neighbor_alltoall_typed<MPI_Count>;
#endif

}  // namespace forms
}  // namespace isthmus::face
