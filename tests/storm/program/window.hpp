// Windows of every flavor, each with the same bytes on all ranks.
#pragma once

#include "step.hpp"

namespace storm {

class Window {
 public:
  enum Flavor { kAllocated, kCreated, kDynamic, kFlavors };

  /// Collective over the step's communicator. Each rank has at least `least` bytes.
  Window(Step& step, Flavor flavor, std::size_t least);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Collective. The memory of a created window stays, and may change now.
  void free();

  [[nodiscard]] MPI_Win handle() const { return win_; }
  [[nodiscard]] Flavor flavor() const { return flavor_; }
  /// Of this process.
  [[nodiscard]] std::span<unsigned char> memory() const { return memory_; }
  /// The displacement of byte `offset` of a target in calls; `offset` is a multiple of 8.
  [[nodiscard]] MPI_Aint displacement(int target, std::size_t offset) const;

 private:
  Flavor flavor_;
  int unit_ = 1;
  MPI_Win win_ = MPI_WIN_NULL;
  Bytes own_{0};
  std::span<unsigned char> memory_;
  std::vector<MPI_Aint> bases_;  ///< of a dynamic window, by target
};

}  // namespace storm
