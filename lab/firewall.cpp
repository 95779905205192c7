#include "lab/firewall.hpp"

#include <algorithm>

#include "lab/bytes.hpp"
#include "lab/virtio.hpp"

namespace isthmus::lab {

bool Firewall::passes(std::span<const std::byte> frame) const {
  if (!open_) return true;
  if (frame.size() < kVirtio + 20) return false;
  const auto ip = frame.subspan(kVirtio);
  if (read8(ip, 0) >> 4 != 4) return false;
  if (std::find(open_->begin(), open_->end(), read32(ip, 16)) != open_->end()) return true;
  const std::size_t payload = (read8(ip, 0) & 15U) * 4;
  if ((read16(ip, 6) & 0x1fff) != 0 || payload < 20) return false;  // a later fragment
  const std::uint8_t protocol = read8(ip, 9);
  if (protocol == 6 && payload + 14 <= ip.size()) {
    constexpr std::uint8_t kSyn = 0x02, kAck = 0x10;
    return (read8(ip, payload + 13) & (kSyn | kAck)) != kSyn;
  }
  if (protocol == 1 && payload < ip.size()) {
    constexpr std::uint8_t kAnswers[] = {0, 3, 11, 12, 14};
    return std::count(std::begin(kAnswers), std::end(kAnswers), read8(ip, payload)) > 0;
  }
  return false;
}

}  // namespace isthmus::lab
