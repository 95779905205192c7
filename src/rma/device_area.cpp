#include "rma/device_area.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "rma/element_runs.hpp"

namespace isthmus::rma {
namespace {

/// More pieces than that are read with the bytes between them, if these are not many. A driver
/// takes some microseconds for a copy of a few bytes.
constexpr std::size_t kFewPieces = 8;
constexpr std::size_t kMostBetween = 8;  // times the data

/// Calls `use(memory, packed, length)` for pieces of memory, in the order of the packed bytes.
template <class Use>
void each_piece(const Elements& there, Use&& use) {
  if (there.map == nullptr) {
    if (there.size > 0) use(there.memory, 0, there.size);
    return;
  }
  core::TypeCursor cursor(*there.map, there.count, there.position);
  for (std::size_t at = 0; at < there.size;) {
    const core::Piece piece = cursor.next(static_cast<std::int64_t>(there.size - at));
    if (piece.length <= 0) return;
    const auto length = static_cast<std::size_t>(piece.length);
    use(there.memory + piece.offset, at, length);
    at += length;
  }
}

/// The memory from the first to the last of its pieces.
struct Cover {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  std::size_t pieces = 0;
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

Cover cover_of(const Elements& there) {
  Cover all;
  each_piece(there, [&](std::byte* memory, std::size_t, std::size_t length) {
    all.begin = all.pieces == 0 ? memory : std::min(all.begin, memory);
    all.end = std::max(all.end, memory + length);
    ++all.pieces;
  });
  return all;
}

/// Elements in a row in memory of the device, and their copies on the host.
struct Run {
  std::byte* there;
  std::size_t here;  // offset in the image
  std::size_t bytes;
};

/// Copies of an image, which is freed after this: they end before, also if one of them fails.
class ImageCopies {
 public:
  explicit ImageCopies(DeviceCopies& copies) : copies_(copies) {}
  ~ImageCopies() {
    if (!under_way_) return;
    try {
      copies_.end();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the first failure is told
    }
  }
  ImageCopies(const ImageCopies&) = delete;
  ImageCopies& operator=(const ImageCopies&) = delete;

  /// Throws as DeviceCopies does.
  void all(auto&& begin) {
    under_way_ = true;
    begin();
    under_way_ = false;
    copies_.end();
  }

 private:
  DeviceCopies& copies_;
  bool under_way_ = false;
};

/// The last element may end before its extent does.
std::size_t bytes_of(const Element& element, std::size_t count) {
  const std::size_t last =
      element.pair ? element.index_offset + element.index_size : element.value_size;
  return (count - 1) * element.extent + last;
}

}  // namespace

void write_device(DeviceCopies& copies, const Elements& there, std::span<const std::byte> data) {
  each_piece(there, [&](std::byte* memory, std::size_t at, std::size_t length) {
    copies.to_device(memory, data.data() + at, length);
  });
}

void read_device(DeviceCopies& copies, const Elements& there, std::span<std::byte> into) {
  const Cover cover = there.map != nullptr ? cover_of(there) : Cover();
  if (cover.pieces <= kFewPieces || cover.size() / kMostBetween > there.size) {
    each_piece(there, [&](const std::byte* memory, std::size_t at, std::size_t length) {
      copies.to_host(into.data() + at, memory, length);
    });
    copies.end();
    return;
  }
  const auto image = std::make_unique_for_overwrite<std::byte[]>(cover.size());
  ImageCopies(copies).all([&] { copies.to_host(image.get(), cover.begin, cover.size()); });
  each_piece(there, [&](const std::byte* memory, std::size_t at, std::size_t length) {
    std::memcpy(into.data() + at, image.get() + (memory - cover.begin), length);
  });
}

bool combine_device(DeviceCopies& copies, const Elements& there, const Combination& how,
                    std::span<const std::byte> data, std::span<std::byte> before) {
  const Element& element = how.element;
  const std::size_t packed = element.packed();
  if (there.size < packed) return true;
  std::vector<Run> runs;
  const auto add = [&](std::byte* memory, std::size_t at, std::size_t count) {
    if (count > 0) runs.push_back({memory, at / packed * element.extent, bytes_of(element, count)});
  };
  if (there.map == nullptr) {
    add(there.memory, 0, there.size / packed);
  } else if (!each_run(*there.map, there.count, there.position, there.size, there.memory, element,
                       add)) {
    return false;
  }
  const auto image =
      std::make_unique_for_overwrite<std::byte[]>(there.size / packed * element.extent);
  const bool overwrites = how.op == Op::Replace && element.gapless() && before.empty();
  ImageCopies of_image(copies);
  if (!overwrites) {
    of_image.all([&] {
      for (const Run& run : runs) copies.to_host(image.get() + run.here, run.there, run.bytes);
    });
  }
  const Elements here{.memory = image.get(), .size = there.size};
  if (!combine_there(here, how, data, before, nullptr)) return false;
  if (data.empty() || how.op == Op::NoOp) return true;
  of_image.all([&] {
    for (const Run& run : runs) copies.to_device(run.there, image.get() + run.here, run.bytes);
  });
  return true;
}

void swap_device(DeviceCopies& copies, std::byte* memory, std::span<const std::byte> expected,
                 std::span<const std::byte> wanted, std::span<std::byte> before) {
  copies.to_host(before.data(), memory, before.size());
  copies.end();
  if (!std::equal(before.begin(), before.end(), expected.begin())) return;
  copies.to_device(memory, wanted.data(), wanted.size());
  copies.end();
}

}  // namespace isthmus::rma
