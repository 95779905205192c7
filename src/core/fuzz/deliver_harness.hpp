// Reads bytes as a sequence of frames from hostile peers, mixed with actions of the program, and
// runs it on an engine. Aborts when a bound of the engine is broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace isthmus::core {

/// Returns the number of frames that the engine accepted.
std::size_t run_deliver_input(std::span<const std::uint8_t> input);

}  // namespace isthmus::core
