#include "typed_memory.hpp"

#include <algorithm>
#include <numeric>

namespace storm {

namespace {
constexpr MPI_Aint kGuard = 64;
}

TypedMemory::TypedMemory(std::vector<TypedBlock> blocks, std::uint64_t salt)
    : blocks_(std::move(blocks)), salt_(mixed(salt ^ 0x6a95)) {
  MPI_Aint first = 0, end = 0;
  for (const TypedBlock& block : blocks_) {
    if (block.count == 0) continue;
    const MPI_Aint last = (block.count - 1) * block.layout.extent();
    first = std::min(first, block.at + block.layout.first());
    end = std::max(end, block.at + last + block.layout.end());
  }
  zero_ = static_cast<std::size_t>((kGuard - first + 15) / 16 * 16);
  bytes_ = Bytes(zero_ + static_cast<std::size_t>(end + kGuard));
  reset();
}

// Calls visit(offset in memory, position in the message, bytes) for the first `bytes` of a block.
template <class Visit>
void TypedMemory::visit(std::size_t which, std::size_t bytes, Visit visit) const {
  const TypedBlock& block = blocks_[which];
  std::size_t position = 0;
  for (int i = 0; i < block.count; ++i) {
    const MPI_Aint base = static_cast<MPI_Aint>(zero_) + block.at + i * block.layout.extent();
    for (const Layout::Piece& piece : block.layout.pieces()) {
      if (position >= bytes) return;
      const std::size_t length = std::min(piece.bytes, bytes - position);
      visit(static_cast<std::size_t>(base + piece.at), position, length);
      position += length;
    }
  }
}

void TypedMemory::fill(std::uint64_t key, std::size_t which) const {
  visit(which, blocks_[which].bytes(), [&](std::size_t at, std::size_t position, std::size_t n) {
    storm::fill(bytes_.all().subspan(at, n), key, position);
  });
}

void TypedMemory::reset() const { storm::fill(bytes_.all(), salt_); }

void TypedMemory::spoil() const {
  for (std::size_t which = 0; which < blocks_.size(); ++which) {
    visit(which, blocks_[which].bytes(), [&](std::size_t at, std::size_t, std::size_t n) {
      std::fill_n(bytes_.data() + at, n, 0xee);
    });
  }
}

void TypedMemory::expect(const Step& step, const std::vector<Expected>& expected,
                         const char* what) const {
  Bytes should(bytes_.size(), salt_);
  for (const Expected& e : expected) {
    visit(e.which, e.bytes, [&](std::size_t at, std::size_t position, std::size_t n) {
      storm::fill(should.all().subspan(at, n), e.key, position);
    });
  }
  const auto got = bytes_.all(), wanted = should.all();
  if (step.planted(true)) got[zero_ % 7] ^= 1;  // within the guard
  const auto [wrong, unused] = std::mismatch(got.begin(), got.end(), wanted.begin());
  if (wrong == got.end()) return;
  const auto offset = static_cast<std::size_t>(wrong - got.begin());
  for (const Expected& e : expected) {
    visit(e.which, e.bytes, [&](std::size_t at, std::size_t position, std::size_t n) {
      if (offset < at || offset >= at + n) return;
      step.wrong(text("%s of %zu bytes from %d into %d of %s: byte %zu is %02x, should be %02x",
                      what, e.bytes, e.from, blocks_[e.which].count,
                      blocks_[e.which].layout.name().c_str(), position + offset - at, got[offset],
                      wanted[offset]));
    });
  }
  step.wrong(
      text("%s into %s%s has changed a gap: byte %td from the buffer's address is %02x, was "
           "%02x",
           what, blocks_.empty() ? "nothing" : blocks_[0].layout.name().c_str(),
           blocks_.size() > 1 ? " and others" : "",
           static_cast<std::ptrdiff_t>(offset) - static_cast<std::ptrdiff_t>(zero_), got[offset],
           wanted[offset]));
}

void TypedMemory::expect(const Step& step, std::uint64_t key, const char* what, int from) const {
  expect(step, {{0, key, blocks_[0].bytes(), from}}, what);
}

void TypedMemory::expect_bytes(const Step& step, std::span<const int> should,
                               const char* what) const {
  Bytes whole(bytes_.size(), salt_);
  visit(0, should.size(), [&](std::size_t at, std::size_t position, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const unsigned char got = bytes_.data()[at + i];
      const int wanted = should[position + i];
      if (wanted >= 0 && got != wanted) {
        step.wrong(text("%s of %zu bytes into %s: byte %zu is %02x, should be %02x", what,
                        should.size(), blocks_[0].layout.name().c_str(), position + i, got,
                        static_cast<unsigned>(wanted)));
      }
      whole.data()[at + i] = got;
    }
  });
  if (step.planted(true)) bytes_.data()[zero_ % 7] ^= 1;
  if (!std::equal(whole.all().begin(), whole.all().end(), bytes_.data())) {
    step.wrong(text("%s into %s has changed a gap", what, blocks_[0].layout.name().c_str()));
  }
}

Places draw_places(Random& random, const std::vector<int>& counts, bool apart) {
  Places made{counts, std::vector<int>(counts.size())};
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  int at = 0;
  if (apart) {
    random.shuffle(order);
    at = random.between(-6, 6);
  }
  for (const std::size_t which : order) {
    if (apart) at += random.below(4);
    made.places[which] = at;
    at += counts[which];
  }
  return made;
}

TypedMemory placed(const Layout& layout, const Places& places, std::uint64_t salt) {
  std::vector<TypedBlock> blocks;
  for (std::size_t i = 0; i < places.counts.size(); ++i) {
    blocks.push_back({layout, places.counts[i], places.places[i] * layout.extent()});
  }
  return {std::move(blocks), salt};
}

TypedMemory placed(Random& random, const std::vector<Counted>& all, std::uint64_t salt) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(order);
  std::vector<MPI_Aint> places(all.size());
  MPI_Aint at = random.between(-30, 30) * MPI_Aint{8};
  for (const std::size_t which : order) {
    const auto& [layout, count] = all[which];
    if (count == 0) continue;
    places[which] = (at - layout.first() + 7) / 8 * 8;
    at = places[which] + (count - 1) * layout.extent() + layout.end() + random.below(5) * 8;
  }
  std::vector<TypedBlock> blocks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    blocks.push_back({all[i].layout, all[i].count, places[i]});
  }
  return {std::move(blocks), salt};
}

}  // namespace storm
