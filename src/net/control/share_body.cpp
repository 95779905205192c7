#include "net/control/share_body.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

namespace isthmus::net {

using nlohmann::json;

namespace {

constexpr double kMillion = 1e6;
constexpr std::size_t kLongest = 200;

}  // namespace

std::vector<std::byte> encode_share(const ShareBody& body) {
  // Little is not nothing.
  const double millionths = std::ceil(std::clamp(body.part, 0.0, 1.0) * kMillion);
  const json value = {
      {"share",
       {{"cluster", body.cluster}, {"millionths", static_cast<std::uint32_t>(millionths)}}}};
  const std::string text = value.dump();
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::optional<ShareBody> decode_share(std::span<const std::byte> bytes) {
  if (bytes.size() > kLongest) return std::nullopt;
  const auto* first = reinterpret_cast<const char*>(bytes.data());
  const json value = json::parse(first, first + bytes.size(), nullptr, false);
  const auto found = value.is_object() ? value.find("share") : value.end();
  if (found == value.end() || !found->is_object()) return std::nullopt;
  const json cluster = found->value("cluster", json()), part = found->value("millionths", json());
  if (!cluster.is_number_unsigned() || !part.is_number_unsigned()) return std::nullopt;
  const double millionths = static_cast<double>(part.get<std::uint64_t>());
  return ShareBody{cluster.get<std::size_t>(), std::min(1.0, millionths / kMillion)};
}

}  // namespace isthmus::net
