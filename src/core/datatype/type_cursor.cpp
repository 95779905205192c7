#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "core/datatype/type_map.hpp"

namespace isthmus::core {
namespace {

/// The most of `count` elements whose places fit in offsets.
std::int64_t reachable(const TypeMap& map, std::int64_t count) {
  const std::int64_t span = std::abs(map.extent());
  return span == 0 ? count : std::min(count, kFarthest / span);
}

}  // namespace

TypeCursor::TypeCursor(const TypeMap& map, std::int64_t count, std::int64_t position) : map_(&map) {
  if (__builtin_mul_overflow(reachable(map, std::max<std::int64_t>(count, 0)), map.size(),
                             &total_)) {
    total_ = std::numeric_limits<std::int64_t>::max();
  }
  seek(position);
}

void TypeCursor::seek(std::int64_t position) {
  position_ = std::min(position, total_);
  levels_.clear();
  run_left_ = 0;
  if (done()) return;
  element_ = position_ / map_->size_;
  descend(map_->root_, element_ * map_->extent_, position_ % map_->size_);
}

void TypeCursor::descend(std::uint32_t node, std::int64_t base, std::int64_t position) {
  for (;;) {
    const TypeMap::Node& at = map_->nodes_[node];
    if (at.kind == TypeMap::Kind::Run) {
      run_offset_ = base + position;
      run_left_ = at.size - position;
      run_element_ = at.element;
      return;
    }
    if (at.kind == TypeMap::Kind::Repeat) {
      const std::int64_t each = map_->nodes_[at.child].size;
      const std::int64_t index = position / each;
      levels_.push_back({node, base, index});
      base += index * at.stride;
      position %= each;
      node = at.child;
      continue;
    }
    const auto* first = &map_->entry(at, 0);
    const auto* entry = std::upper_bound(first, first + at.count, position,
                                         [](std::int64_t p, const auto& e) { return p < e.at; }) -
                        1;
    levels_.push_back({node, base, entry - first});
    base += entry->displacement;
    position -= entry->at;
    node = entry->child;
  }
}

void TypeCursor::step() {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    const TypeMap::Node& at = map_->nodes_[level.node];
    if (++level.index < at.count) {
      const std::int64_t base = level.base;
      const std::int64_t index = level.index;
      if (at.kind == TypeMap::Kind::Repeat) {
        descend(at.child, base + index * at.stride, 0);
      } else {
        const TypeMap::Entry& entry = map_->entry(at, index);
        descend(entry.child, base + entry.displacement, 0);
      }
      return;
    }
    levels_.pop_back();
  }
  ++element_;
  descend(map_->root_, element_ * map_->extent_, 0);
}

Piece TypeCursor::next(std::int64_t most) {
  if (done() || most <= 0) return {};
  if (run_left_ == 0) step();
  if (levels_.size() <= 1 && map_->extent_ == map_->size_ && map_->run_of(2)) {
    run_left_ = total_ - position_;  // elements follow one another without a gap
  }
  const Piece piece{run_offset_, std::min(most, run_left_), run_element_};
  run_offset_ += piece.length;
  run_left_ -= piece.length;
  position_ += piece.length;
  return piece;
}

std::size_t pack(TypeCursor& cursor, const std::byte* memory, std::span<std::byte> packed) {
  std::size_t done = 0;
  while (done < packed.size()) {
    const Piece piece = cursor.next(static_cast<std::int64_t>(packed.size() - done));
    if (piece.length == 0) break;
    const auto length = static_cast<std::size_t>(piece.length);
    std::memcpy(packed.data() + done, memory + piece.offset, length);
    done += length;
  }
  return done;
}

std::size_t unpack(TypeCursor& cursor, std::byte* memory, std::span<const std::byte> packed) {
  std::size_t done = 0;
  while (done < packed.size()) {
    const Piece piece = cursor.next(static_cast<std::int64_t>(packed.size() - done));
    if (piece.length == 0) break;
    const auto length = static_cast<std::size_t>(piece.length);
    std::memcpy(memory + piece.offset, packed.data() + done, length);
    done += length;
  }
  return done;
}

}  // namespace isthmus::core
