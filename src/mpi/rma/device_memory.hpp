// Memory of a GPU in windows, by the drivers that the program has loaded.
#pragma once

#include <cstddef>
#include <memory>

#include "rma/device.hpp"
#include "rma/memory.hpp"

namespace isthmus::face {

/// Tells if the CPU can reach memory that the program exposes.
rma::Reach reach_of(const void* base, std::size_t size);
/// An rma::OpenDevice.
std::unique_ptr<rma::DeviceCopies> open_device(const std::byte* at);

}  // namespace isthmus::face
