// Some of a party's members as a party of their own, so that every collective is there for them. In
// clusters all of whose members are in it, local phases are the whole party's; in others, messages.
#pragma once

#include <vector>

#include "coll/engine/party.hpp"

namespace isthmus::coll {

struct Locals;  // local_messages.hpp

class Subset final : public Party {
 public:
  /// Two subsets that work side by side have different lanes, and no other local phase of the whole
  /// party goes on meanwhile. Their collectives are gathers.
  /// Messages: as None, but all local phases are messages. All of the whole are members.
  enum class Lane { None, First, Second, Messages };

  /// `members`: ranks of `whole`, ascending, the caller's among them. `whole` outlives this.
  Subset(Party& whole, std::vector<int> members, Lane lane = Lane::None);

  /// Place of a rank of the whole among the members; it is one.
  int rank_of(int whole_rank) const;

  int rank() const override { return rank_; }
  const Layout& layout() const override { return layout_; }
  const Network& network() const override { return whole_.network(); }
  const Forced& forced() const override { return whole_.forced(); }
  void chosen(const Problem& problem, const Choice& choice) override;
  bool attended() const override { return whole_.attended(); }
  Commons* commons() override { return lane_ == Lane::Messages ? whole_.commons() : nullptr; }
  bool reproducible() const override { return whole_.reproducible(); }

  Pending send(int rank, int tag, ConstBytes data) override;
  Pending recv(int rank, int tag, Bytes data) override;
  Pending send_synchronous(int rank, int tag, ConstBytes data) override;

  Pending local_barrier() override;
  Pending local_bcast(Bytes data, int root) override;
  Pending local_gather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes,
                       int root) override;
  Pending local_scatter(ConstBytes all, std::span<const std::size_t> sizes, Bytes mine,
                        int root) override;
  Pending local_allgather(ConstBytes mine, Bytes all, std::span<const std::size_t> sizes) override;
  Pending local_alltoall(ConstBytes out, std::span<const std::size_t> out_sizes, Bytes in,
                         std::span<const std::size_t> in_sizes) override;
  Pending local_reduce(ConstBytes in, Bytes out, std::size_t count, Reduction& reduction,
                       int root) override;
  Pending local_scan(ConstBytes in, Bytes out, std::size_t count, Reduction& reduction) override;

 private:
  /// The members of my cluster, for the next local phase.
  Locals here();
  int tag_in_lane(int tag) const;

  Party& whole_;
  std::vector<int> members_;
  Layout layout_;
  int rank_;
  Lane lane_;
  bool complete_;  // all members of my cluster are in it, and the phases are the whole party's
  int phases_ = 0;
};

}  // namespace isthmus::coll
