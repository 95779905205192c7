#include "rma/memory.hpp"

#include <iterator>

namespace isthmus::rma {

Memory Memory::fixed(void* base, std::size_t size, Reach reach) {
  Memory memory;
  memory.origin_ = reinterpret_cast<std::uintptr_t>(base);
  memory.attach(base, size, reach);
  return memory;
}

bool Memory::attach(const void* base, std::size_t size, Reach reach) {
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  const auto next = regions_.lower_bound(begin);
  if (next != regions_.end() && (next->first == begin || next->first - begin < size)) return false;
  if (next != regions_.begin()) {
    const auto before = std::prev(next);
    if (begin - before->first < before->second.size) return false;
  }
  regions_.emplace(begin, Region{size, reach});
  if (reach == Reach::Device) ++devices_;
  return true;
}

bool Memory::detach(const void* base) {
  const auto region = regions_.find(reinterpret_cast<std::uintptr_t>(base));
  if (region == regions_.end()) return false;
  if (region->second.reach == Reach::Device) --devices_;
  regions_.erase(region);
  return true;
}

bool Memory::exposes(std::uintptr_t first, std::uintptr_t size) const {
  auto region = regions_.upper_bound(first);
  if (region == regions_.begin()) return false;
  --region;
  std::uintptr_t inside = first - region->first;
  while (inside <= region->second.size) {
    const std::uintptr_t here = region->second.size - inside;
    if (size <= here) return true;
    const std::uintptr_t end = region->first + region->second.size;
    if (region->second.reach == Reach::Device) return false;
    ++region;
    if (region == regions_.end() || region->first != end) return false;
    if (region->second.reach == Reach::Device) return false;
    size -= here;
    inside = 0;
  }
  return false;
}

std::byte* Memory::find(std::int64_t displacement, std::int64_t low, std::int64_t high) const {
  const std::uintptr_t at = origin_ + static_cast<std::uintptr_t>(displacement);
  if (low < high) {
    const std::uintptr_t first = at + static_cast<std::uintptr_t>(low);
    const auto size = static_cast<std::uintptr_t>(high) - static_cast<std::uintptr_t>(low);
    if (!exposes(first, size)) return nullptr;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what the displacement stands for
  return reinterpret_cast<std::byte*>(at);
}

const std::byte* Memory::device(std::int64_t displacement, std::int64_t low) const {
  if (!has_device()) return nullptr;
  const std::uintptr_t at =
      origin_ + static_cast<std::uintptr_t>(displacement) + static_cast<std::uintptr_t>(low);
  auto region = regions_.upper_bound(at);
  if (region == regions_.begin()) return nullptr;
  --region;
  const auto& [begin, about] = *region;
  if (about.reach != Reach::Device || at - begin >= about.size) return nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address
  return reinterpret_cast<const std::byte*>(begin);
}

}  // namespace isthmus::rma
