#include "core/datatype/type_map.hpp"

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::core {

TypeMap TypeMap::basic(std::int64_t size, std::int64_t extent, int element) {
  TypeMap map;
  map.extent_ = extent;
  if (size <= 0) return map;
  if (!map.add({.element = static_cast<std::uint8_t>(element), .size = size})) too_large();
  map.root_ = 0;
  map.size_ = size;
  return map;
}

bool TypeMap::add(Node node) {
  if (nodes_.size() + entries_.size() >= kMaxParts) return false;
  if (node.kind == Kind::Run) {
    node.low = 0;
    node.high = node.size;
    node.depth = 1;
  } else if (node.kind == Kind::Repeat) {
    const Node& child = nodes_[node.child];
    std::int64_t last = 0;
    if (node.count < 1 || !times(child.size, node.count, node.size) ||
        !times(node.stride, node.count - 1, last) || !in_reach(last)) {
      return false;
    }
    node.low = child.low + std::min<std::int64_t>(last, 0);
    node.high = child.high + std::max<std::int64_t>(last, 0);
    node.depth = child.depth + 1;
  } else {
    node.size = 0;
    for (std::int64_t i = 0; i < node.count; ++i) {
      Entry& e = entries_[static_cast<std::size_t>(node.stride + i)];
      const Node& child = nodes_[e.child];
      if (!in_reach(e.displacement)) return false;
      e.at = node.size;
      if (!plus(node.size, child.size, node.size)) return false;
      const std::int64_t low = e.displacement + child.low, high = e.displacement + child.high;
      node.low = i == 0 ? low : std::min(node.low, low);
      node.high = i == 0 ? high : std::max(node.high, high);
      node.depth = std::max(node.depth, child.depth + 1);
    }
  }
  if (node.size < 1 || node.size > kFarthest || node.depth > kMaxDepth || !in_reach(node.low) ||
      !in_reach(node.high)) {
    return false;
  }
  nodes_.push_back(node);
  return true;
}

std::optional<TypeMap::Bounds> TypeMap::bounds(std::int64_t count) const {
  if (size_ == 0 || count <= 0) return Bounds{};
  std::int64_t last = 0, low = 0, high = 0;
  if (!times(extent_, count - 1, last) ||
      !plus(true_lower(), std::min<std::int64_t>(last, 0), low) ||
      !plus(true_upper(), std::max<std::int64_t>(last, 0), high)) {
    return std::nullopt;
  }
  return Bounds{low, high};
}

bool TypeMap::run_of(std::int64_t count) const {
  if (size_ == 0 || count == 0) return true;
  const Node& root = nodes_[root_];
  const bool run = root.kind == Kind::Run || (root.kind == Kind::List && root.count == 1 &&
                                              nodes_[entry(root, 0).child].kind == Kind::Run);
  return run && (count == 1 || extent_ == size_);
}

bool TypeMap::grows() const {
  // In nodes that grow, the first element is at `low`; this is the place of the last one, by node.
  std::vector<std::int64_t> last;
  last.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    switch (node.kind) {
      case Kind::Run:
        last.push_back(node.size - std::min<std::int64_t>(node.element, node.size));
        break;
      case Kind::Repeat:
        if (node.count > 1 && node.stride + nodes_[node.child].low < last[node.child]) return false;
        last.push_back(last[node.child] + (node.count - 1) * node.stride);
        break;
      case Kind::List: {
        std::int64_t end = node.low;
        for (std::int64_t i = 0; i < node.count; ++i) {
          const Entry& e = entry(node, i);
          if (e.displacement + nodes_[e.child].low < end) return false;
          end = e.displacement + last[e.child];
        }
        last.push_back(end);
        break;
      }
    }
  }
  return true;
}

TypeMap TypeMap::resized(std::int64_t lower, std::int64_t extent) const {
  if (!in_reach(extent)) too_large();
  TypeMap map = *this;
  map.lower_ = lower;
  map.extent_ = extent;
  return map;
}

void TypeMap::encode(std::vector<std::byte>& out) const {
  Writer to(out);
  to.u64(static_cast<std::uint64_t>(lower_));
  to.u64(static_cast<std::uint64_t>(extent_));
  to.u32(static_cast<std::uint32_t>(nodes_.size()));
  for (const Node& node : nodes_) {
    to.u8(static_cast<std::uint8_t>(node.kind));
    if (node.kind == Kind::Run) {
      to.u8(node.element);
      to.u64(static_cast<std::uint64_t>(node.size));
    } else if (node.kind == Kind::Repeat) {
      to.u32(node.child);
      to.u64(static_cast<std::uint64_t>(node.count));
      to.u64(static_cast<std::uint64_t>(node.stride));
    } else {
      to.u32(static_cast<std::uint32_t>(node.count));
      for (std::int64_t i = 0; i < node.count; ++i) {
        const Entry& e = entry(node, i);
        to.u32(e.child);
        to.u64(static_cast<std::uint64_t>(e.displacement));
      }
    }
  }
}

std::optional<TypeMap> TypeMap::decode(std::span<const std::byte> bytes) {
  Reader from(bytes);
  const auto signed64 = [&from] { return static_cast<std::int64_t>(from.u64()); };
  TypeMap map;
  map.lower_ = signed64();
  map.extent_ = signed64();
  const std::size_t n = from.u32();
  // Each node takes more than ten bytes, each entry twelve: memory is a few times what came.
  for (std::size_t i = 0; i < n && from.good(); ++i) {
    Node node{.kind = static_cast<Kind>(from.u8())};
    switch (node.kind) {
      case Kind::Run:
        node.element = from.u8();
        node.size = signed64();
        if (node.element == 0 || node.size < 1 || node.size > kFarthest) return std::nullopt;
        break;
      case Kind::Repeat:
        node.child = from.u32();
        node.count = signed64();
        node.stride = signed64();
        if (node.child >= i) return std::nullopt;
        break;
      case Kind::List:
        node.count = from.u32();
        node.stride = static_cast<std::int64_t>(map.entries_.size());
        for (std::int64_t k = 0; k < node.count; ++k) {
          Entry e;
          e.child = from.u32();
          e.displacement = signed64();
          if (!from.good() || e.child >= i || map.entries_.size() >= kMaxParts) return std::nullopt;
          map.entries_.push_back(e);
        }
        break;
      default:
        return std::nullopt;
    }
    if (!from.good() || !map.add(node)) return std::nullopt;
  }
  if (!from.good() || !from.at_end() || !in_reach(map.extent_)) return std::nullopt;
  if (n > 0) {
    map.root_ = static_cast<std::uint32_t>(n - 1);
    map.size_ = map.nodes_.back().size;
  }
  return map;
}

TypeMap TypeMap::compacted() const {
  std::vector<bool> used(nodes_.size());
  used[root_] = true;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!used[i]) continue;
    const Node& node = nodes_[i];
    if (node.kind == Kind::Repeat) used[node.child] = true;
    if (node.kind != Kind::List) continue;
    for (std::int64_t k = 0; k < node.count; ++k) used[entry(node, k).child] = true;
  }
  std::vector<std::uint32_t> number(nodes_.size());
  TypeMap map;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!used[i]) continue;
    Node node = nodes_[i];
    if (node.kind == Kind::Repeat) node.child = number[node.child];
    if (node.kind == Kind::List) {
      const auto first = static_cast<std::int64_t>(map.entries_.size());
      for (std::int64_t k = 0; k < node.count; ++k) {
        Entry e = entry(node, k);
        e.child = number[e.child];
        map.entries_.push_back(e);
      }
      node.stride = first;
    }
    number[i] = static_cast<std::uint32_t>(map.nodes_.size());
    map.nodes_.push_back(node);
  }
  map.root_ = number[root_];
  map.size_ = nodes_[root_].size;
  map.lower_ = nodes_[root_].low;
  map.extent_ = nodes_[root_].high - nodes_[root_].low;
  return map;
}

}  // namespace isthmus::core
