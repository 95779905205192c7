// A simulated rank, as collectives see it.
#pragma once

#include <span>
#include <vector>

#include "coll/engine/party.hpp"

namespace isthmus::coll {
struct Locals;
}

namespace isthmus::sim {

class Simulation;

class SimulatedParty final : public coll::Party {
 public:
  SimulatedParty(Simulation& simulation, int rank) : simulation_(simulation), rank_(rank) {}

  int rank() const override { return rank_; }
  const coll::Layout& layout() const override;
  const coll::Network& network() const override;
  const coll::Forced& forced() const override;
  void chosen(const coll::Problem& problem, const coll::Choice& choice) override;

  coll::Pending send(int rank, int tag, coll::ConstBytes data) override;
  coll::Pending recv(int rank, int tag, coll::Bytes data) override;
  coll::Pending send_synchronous(int rank, int tag, coll::ConstBytes data) override;

  // These send messages along the trees that native libraries use (natives.hpp).
  coll::Pending local_barrier() override;
  coll::Pending local_bcast(coll::Bytes data, int root) override;
  coll::Pending local_gather(coll::ConstBytes mine, coll::Bytes all,
                             std::span<const std::size_t> sizes, int root) override;
  coll::Pending local_scatter(coll::ConstBytes all, std::span<const std::size_t> sizes,
                              coll::Bytes mine, int root) override;
  coll::Pending local_allgather(coll::ConstBytes mine, coll::Bytes all,
                                std::span<const std::size_t> sizes) override;
  coll::Pending local_alltoall(coll::ConstBytes out, std::span<const std::size_t> out_sizes,
                               coll::Bytes in, std::span<const std::size_t> in_sizes) override;
  coll::Pending local_reduce(coll::ConstBytes in, coll::Bytes out, std::size_t count,
                             coll::Reduction& reduction, int root) override;
  coll::Pending local_scan(coll::ConstBytes in, coll::Bytes out, std::size_t count,
                           coll::Reduction& reduction) override;

  /// Software sees to one message: alone, or behind another one at once. When it has.
  double handle(double now);
  /// The processor is busy for this time.
  void compute(double seconds);
  double free() const { return free_; }
  /// Native phases go on while their process is in any call of MPI.
  void advance_phases();

 private:
  struct Phase;
  coll::Pending phase(coll::Task task);
  coll::Locals here();

  Simulation& simulation_;
  int rank_;
  int phases_ = 0;
  std::vector<Phase*> under_way_;
  double free_ = -1;  // the time since its processor has been idle
};

}  // namespace isthmus::sim
