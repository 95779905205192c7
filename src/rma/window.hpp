// One process's part of a window: its requests to others (Origin), and its work for others
// (Target). Operations travel as records in messages of a service, in order from each origin. A
// pure state machine over core::Engine.
#pragma once

#include "rma/origin.hpp"
#include "rma/target.hpp"

namespace isthmus::rma {

/// The owner outlives all operations: it destroys a window only when all members do so and quiet()
/// holds.
class Window final : Channel, public Origin, public core::Service {
 public:
  Window(core::Engine& engine, WindowConfig config, Memory memory);
  ~Window();

  /// Whether all operations of this window here have ended.
  bool quiet() const { return all_over() && target_.all_over(); }
  void post(int rank);

  Target& target() { return target_; }
  const Target& target() const { return target_; }
  [[nodiscard]] bool take(core::NodeId from, const core::Envelope& envelope,
                          std::span<const std::byte> bytes) override;
  void fail(core::NodeId first, core::NodeId count) override;

 private:
  Target target_;
};

}  // namespace isthmus::rma
