// Reading and writing what a view sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "file/storage.hpp"
#include "file/view.hpp"

namespace isthmus::file {

/// Reads from byte `position` of the view on. Returns fewer bytes than requested if the file ends
/// before.
std::size_t read_seen(Storage& file, const View& view, std::int64_t position,
                      std::span<std::byte> to);
void write_seen(Storage& file, const View& view, std::int64_t position,
                std::span<const std::byte> from);

}  // namespace isthmus::file
