// A grid in memory, for tests: parties whose messages and local collectives take random times,
// stepped in random order, repeatably for a seed. It checks the rules of real parties: local
// operations in the same order on all members, equal sizes at both ends, memory that stays until an
// operation is done, nothing left over at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "coll/engine/commons.hpp"
#include "coll/engine/network.hpp"
#include "coll/engine/party.hpp"

namespace isthmus::coll {

class MemoryGrid;

/// An operation that advances by itself once it has begun, as MPI's do while their process is in
/// any call of MPI: it need not be polled.
struct MemoryProgress : Operation {
  explicit MemoryProgress(MemoryGrid& grid);
  ~MemoryProgress() override;
  virtual void progress() = 0;
  MemoryGrid& grid;
};

/// One member's part in a local collective.
struct LocalPart {
  bool joined = false;
  ConstBytes contribution;  // the member's memory, or `copy`
  std::vector<std::byte> copy;
  std::vector<std::size_t> sizes;  // of `contribution`'s blocks, if it has several
  int readers = 0;                 // members that have still to read it
  int depth = 0;
};

/// One collective of one cluster: its members' k-th.
struct LocalSlot {
  std::string what;  // name and root; must agree
  std::vector<LocalPart> parts;
};

class MemoryParty : public Party {
 public:
  MemoryParty(MemoryGrid& grid, int rank) : grid_(grid), rank_(rank) {}
  int rank() const override { return rank_; }
  const Layout& layout() const override;
  const Network& network() const override;
  Commons* commons() override { return commons_ ? &*commons_ : nullptr; }
  bool attended() const override;  ///< changes its mind at random
  bool reproducible() const override;
  Pending send(int rank, int tag, ConstBytes data) override;
  Pending send_synchronous(int rank, int tag, ConstBytes data) override;
  Pending recv(int rank, int tag, Bytes data) override;
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

  /// Longest chain of messages between clusters that anything this rank knows depends on.
  int depth = 0;

 private:
  struct LocalCall;  // memory_local.cpp
  Pending local(LocalCall call);
  Pending send(int rank, int tag, ConstBytes data, bool eager);
  friend class MemoryGrid;
  MemoryGrid& grid_;
  int rank_;
  std::optional<Commons> commons_;
  std::size_t local_calls_ = 0;
};

/// Memory as all ranks of a host see it.
class CommonsMemory {
 public:
  explicit CommonsMemory(int ranks)
      : lines_((Commons::bytes(ranks) + sizeof(Line) - 1) / sizeof(Line)) {}
  Bytes bytes() { return std::as_writable_bytes(std::span(lines_)); }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
};

/// Does not sleep, because all are stepped in turns.
struct NoSleep : Sleep {
  void wait(std::atomic<std::uint32_t>&, std::uint32_t, std::chrono::microseconds) override {}
  void wake(std::atomic<std::uint32_t>&) override {}
};

class MemoryGrid {
 public:
  MemoryGrid(std::span<const int> cluster_of_rank, std::uint64_t seed);

  /// Runs body(party) on every rank to the end. Throws std::logic_error for a deadlock or a breach
  /// of the contract, and also exceptions of a body.
  void run(const std::function<Task(Party&)>& body);

  /// All ranks are on one host and have a commons, whose failures have the codes 1 and 2.
  void share_memory();

  const Layout& layout() const { return layout_; }
  Network network;  ///< the same for all; set it before run
  bool reproducible = false;
  /// In messages from one cluster to the other.
  std::size_t bytes_between(int from, int to) const;
  int depth() const;                                            ///< the largest of all ranks
  int crossings() const { return crossings_; }                  ///< messages between clusters
  std::size_t bytes_crossed() const { return bytes_crossed_; }  ///< in those

 private:
  friend class MemoryParty;
  friend struct MemorySend;
  friend struct MemoryRecv;
  friend struct MemoryLocal;
  friend struct MemoryProgress;
  struct Message {
    ConstBytes data;
    std::vector<std::byte> copy;
    std::uint64_t ready = 0;  // tick
    int depth = 0;
    bool taken = false;
  };
  struct Lane {  // messages and receives of one (from, to, tag) meet by number
    std::map<std::size_t, std::shared_ptr<Message>> messages;
    std::size_t sent = 0, posted = 0;
  };

  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  std::uint64_t soon() { return tick_ + random_() % 20; }
  void breach(const std::string& sentence);
  Lane& lane(int from, int to, int tag);

  Layout layout_;
  std::mt19937_64 random_;
  std::optional<CommonsMemory> memory_;
  NoSleep sleep_;
  std::vector<MemoryParty> parties_;
  std::map<std::tuple<int, int, int>, Lane> lanes_;
  std::vector<std::map<std::size_t, std::shared_ptr<LocalSlot>>> slots_;  // by cluster
  std::vector<MemoryProgress*> under_way_;
  std::uint64_t tick_ = 0;
  std::uint64_t last_progress_ = 0;
  int crossings_ = 0;
  std::map<std::pair<int, int>, std::size_t> bytes_between_;
  std::size_t bytes_crossed_ = 0;
  std::string breach_;
};

}  // namespace isthmus::coll
