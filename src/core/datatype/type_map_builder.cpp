#include "core/base/checked.hpp"
#include "core/datatype/type_map.hpp"

namespace isthmus::core {

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

void TypeMapBuilder::place(std::uint32_t child, std::int64_t displacement) {
  if (!in_reach(displacement)) too_large();
  const TypeMap::Node& node = map_.nodes_[child];
  if (!list_.empty() && node.kind == TypeMap::Kind::Run) {
    TypeMap::Entry& before = list_.back();
    const TypeMap::Node& other = map_.nodes_[before.child];
    std::int64_t end = 0;
    if (other.kind == TypeMap::Kind::Run && other.element == node.element &&
        plus(before.displacement, other.size, end) && end == displacement) {
      const std::int64_t grown = other.size + node.size;
      if (grown > kFarthest) too_large();
      if (merged_ == before.child) {  // no other node names it
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

}  // namespace isthmus::core
