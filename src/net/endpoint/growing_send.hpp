// A send whose bytes come by and by (core::SendOp::ready). A thread of a GPU's driver reports them.
// It may not wait for the engine, since who holds the engine's lock may be waiting for the driver.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/wire/message.hpp"

namespace isthmus::net {

struct GrowingSend {
  explicit GrowingSend(core::SendOp& sent) : op(&sent) {}

  std::atomic<std::size_t> ready{0};  ///< bytes that are there; the engine may know of fewer
  std::atomic<bool> posted{false};    ///< the thread with the I/O's turn will tell the engine
  core::SendOp* op;                   ///< guarded by the engine's mutex; null: its growth has ended
};

}  // namespace isthmus::net
