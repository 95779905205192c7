#include "core/type_map.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/wire.hpp"

namespace isthmus::core {
namespace {

bool times(std::int64_t a, std::int64_t b, std::int64_t& out) {
  return !__builtin_mul_overflow(a, b, &out);
}
bool plus(std::int64_t a, std::int64_t b, std::int64_t& out) {
  return !__builtin_add_overflow(a, b, &out);
}

[[noreturn]] void too_large() {
  throw std::length_error(
      "a datatype reaches over more bytes, or has more parts, than can be told");
}

}  // namespace

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
        !times(node.stride, node.count - 1, last) || last > kFarthest || last < -kFarthest) {
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
      if (e.displacement > kFarthest || e.displacement < -kFarthest) return false;
      e.at = node.size;
      if (!plus(node.size, child.size, node.size)) return false;
      const std::int64_t low = e.displacement + child.low, high = e.displacement + child.high;
      node.low = i == 0 ? low : std::min(node.low, low);
      node.high = i == 0 ? high : std::max(node.high, high);
      node.depth = std::max(node.depth, child.depth + 1);
    }
  }
  if (node.size < 1 || node.size > kFarthest || node.depth > kMaxDepth || node.low < -kFarthest ||
      node.high > kFarthest) {
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
  // Of nodes that grow, the first element is at `low`; where the last one is, by node.
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
  if (!from.good() || !from.at_end() || map.extent_ > kFarthest || map.extent_ < -kFarthest) {
    return std::nullopt;
  }
  if (n > 0) {
    map.root_ = static_cast<std::uint32_t>(n - 1);
    map.size_ = map.nodes_.back().size;
  }
  return map;
}

std::uint32_t TypeMapBuilder::put(const TypeMap::Node& node) {
  if (!map_.add(node)) too_large();
  return static_cast<std::uint32_t>(map_.nodes_.size() - 1);
}

TypeMapBuilder::Element TypeMapBuilder::element(const TypeMap& from) {
  if (from.size_ == 0) return {};
  const auto nodes = static_cast<std::uint32_t>(map_.nodes_.size());
  const auto entries = static_cast<std::int64_t>(map_.entries_.size());
  if (map_.nodes_.size() + map_.entries_.size() + from.nodes_.size() + from.entries_.size() >
      TypeMap::kMaxParts) {
    too_large();
  }
  for (TypeMap::Entry e : from.entries_) {
    e.child += nodes;
    map_.entries_.push_back(e);
  }
  for (TypeMap::Node node : from.nodes_) {
    if (node.kind == TypeMap::Kind::Repeat) node.child += nodes;
    if (node.kind == TypeMap::Kind::List) node.stride += entries;
    map_.nodes_.push_back(node);
  }
  return {.node = nodes + from.root_, .extent = from.extent_, .empty = false};
}

std::uint32_t TypeMapBuilder::run(std::int64_t size, int element) {
  return put({.element = static_cast<std::uint8_t>(element), .size = size});
}

std::uint32_t TypeMapBuilder::repeat(std::uint32_t child, std::int64_t count, std::int64_t stride) {
  if (count == 1) return child;
  const TypeMap::Node& node = map_.nodes_[child];
  if (node.kind == TypeMap::Kind::Run && stride == node.size) {
    std::int64_t size = 0;
    if (!times(node.size, count, size)) too_large();
    return run(size, node.element);
  }
  std::int64_t span = 0, all = 0;
  if (node.kind == TypeMap::Kind::Repeat && times(node.stride, node.count, span) &&
      span == stride && times(node.count, count, all)) {
    return put(
        {.kind = TypeMap::Kind::Repeat, .child = node.child, .count = all, .stride = node.stride});
  }
  return put({.kind = TypeMap::Kind::Repeat, .child = child, .count = count, .stride = stride});
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

void TypeMapBuilder::place(std::uint32_t child, std::int64_t displacement) {
  const TypeMap::Node& node = map_.nodes_[child];
  if (!list_.empty() && node.kind == TypeMap::Kind::Run) {
    TypeMap::Entry& before = list_.back();
    const TypeMap::Node& other = map_.nodes_[before.child];
    std::int64_t end = 0;
    if (other.kind == TypeMap::Kind::Run && other.element == node.element &&
        plus(before.displacement, other.size, end) && end == displacement) {
      const std::int64_t grown = other.size + node.size;
      if (grown > kFarthest) too_large();
      if (merged_ == before.child) {  // nothing else names it
        map_.nodes_[merged_].size = map_.nodes_[merged_].high = grown;
      } else {
        merged_ = run(grown, node.element);
        before.child = merged_;
      }
      return;
    }
  }
  if (list_.size() + map_.nodes_.size() + map_.entries_.size() >= TypeMap::kMaxParts) too_large();
  list_.push_back({.displacement = displacement, .child = child});
}

void TypeMapBuilder::add(Element& element, std::int64_t block, std::int64_t displacement,
                         std::int64_t count, std::int64_t stride) {
  if (element.empty || block <= 0 || count <= 0) return;
  if (element.block != block) {
    element.block_node = repeat(element.node, block, element.extent);
    element.block = block;
  }
  place(repeat(element.block_node, count, stride), displacement);
}

void TypeMapBuilder::add(const TypeMap& map, std::int64_t block, std::int64_t displacement,
                         std::int64_t count, std::int64_t stride) {
  Element one = element(map);
  add(one, block, displacement, count, stride);
}

TypeMap TypeMapBuilder::build() && {
  if (list_.empty()) return {};
  std::uint32_t child = list_.front().child;
  std::int64_t displacement = list_.front().displacement;
  bool regular = list_.size() > 1;  // the same block again and again, at equal distances
  const std::int64_t stride = regular ? list_[1].displacement - displacement : 0;
  for (std::size_t i = 1; i < list_.size() && regular; ++i) {
    regular =
        list_[i].child == child && list_[i].displacement - list_[i - 1].displacement == stride;
  }
  if (regular) {
    child = repeat(child, static_cast<std::int64_t>(list_.size()), stride);
    list_.assign(1, {.displacement = displacement, .child = child});
  }
  if (list_.size() == 1 && displacement == 0) {
    map_.root_ = child;
  } else {
    const auto first = static_cast<std::int64_t>(map_.entries_.size());
    map_.entries_.insert(map_.entries_.end(), list_.begin(), list_.end());
    map_.root_ = put({.kind = TypeMap::Kind::List,
                      .count = static_cast<std::int64_t>(list_.size()),
                      .stride = first});
  }
  return map_.compacted();
}

TypeMap subarray_map(const TypeMap& element, std::span<const std::int64_t> sizes,
                     std::span<const std::int64_t> subsizes, std::span<const std::int64_t> starts,
                     bool c_order) {
  TypeMap map = element;
  std::int64_t stride = element.extent();
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::size_t d = c_order ? sizes.size() - 1 - k : k;
    std::int64_t first = 0;
    if (!times(starts[d], stride, first)) too_large();
    TypeMapBuilder builder;
    builder.add(map, 1, first, subsizes[d], stride);
    if (!times(stride, sizes[d], stride)) too_large();
    map = std::move(builder).build();
  }
  return map.resized(0, stride);
}

TypeMap darray_map(const TypeMap& element, std::span<const Distribution> dimensions,
                   std::int64_t rank, bool c_order) {
  const std::size_t n = dimensions.size();
  std::vector<std::int64_t> place(n);
  for (std::size_t d = n; d-- > 0;) {
    place[d] = rank % dimensions[d].processes;
    rank /= dimensions[d].processes;
  }
  TypeMap map = element;
  std::int64_t stride = element.extent();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t d = c_order ? n - 1 - k : k;
    const Distribution& how = dimensions[d];
    const bool whole = how.kind == Distribution::Kind::None;
    std::int64_t block = how.argument;
    if (whole) block = how.size;
    if (block <= 0) {
      block = how.kind == Distribution::Kind::Cyclic
                  ? 1
                  : (how.size + how.processes - 1) / how.processes;
    }
    const std::int64_t first = whole ? 0 : place[d] * block;
    const std::int64_t step = how.processes * block;
    const std::int64_t left = std::max<std::int64_t>(how.size - first, 0);
    const bool cyclic = how.kind == Distribution::Kind::Cyclic;
    const std::int64_t full = cyclic ? (left + step - block) / step : 1;
    const std::int64_t rest = cyclic ? left - full * step : 0;  // of a last, partial block
    std::int64_t first_byte = 0, step_bytes = 0, rest_byte = 0;
    if (!times(first, stride, first_byte) || !times(step, stride, step_bytes) ||
        !times(first + full * step, stride, rest_byte)) {
      too_large();
    }
    TypeMapBuilder builder;
    const TypeMap spaced = map.resized(0, stride);
    builder.add(spaced, cyclic ? block : std::min(block, left), first_byte, full, step_bytes);
    builder.add(spaced, rest, rest_byte);
    if (!times(stride, how.size, stride)) too_large();
    map = std::move(builder).build();
  }
  return map.resized(0, stride);
}

}  // namespace isthmus::core
