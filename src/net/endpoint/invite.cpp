#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "net/endpoint/direct.hpp"

namespace isthmus::net {
namespace {

using nlohmann::json;

constexpr std::size_t kMostAddresses = 16;
constexpr std::size_t kLongestAddress = 300;

}  // namespace

std::vector<std::byte> encode_invite(const Invite& invite) {
  const std::string text =
      json{{"at", invite.addresses}, {"unreachable", invite.unreachable}}.dump();
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::optional<Invite> decode_invite(std::span<const std::byte> body) {
  // A deeply nested text would exhaust the parser's stack; ours has two levels.
  bool flat = true;
  const auto shallow = [&flat](int level, json::parse_event_t, json&) {
    flat = flat && level <= 3;
    return flat;
  };
  const auto* first = reinterpret_cast<const char*>(body.data());
  const json value = json::parse(first, first + body.size(), shallow, false);
  if (!flat || !value.is_object()) return std::nullopt;
  try {
    Invite invite;
    invite.addresses = value.at("at").get<std::vector<std::string>>();
    invite.unreachable = value.at("unreachable").get<bool>();
    const bool sane = invite.addresses.size() <= kMostAddresses &&
                      std::all_of(invite.addresses.begin(), invite.addresses.end(),
                                  [](const auto& a) { return a.size() <= kLongestAddress; });
    return sane ? std::optional(std::move(invite)) : std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace isthmus::net
