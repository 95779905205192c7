#include "net/shm/lending.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

namespace isthmus::net::shm {

using nlohmann::json;

namespace {

constexpr std::size_t kLongest = 200;

}  // namespace

std::vector<std::byte> encode_lending(const LendingBody& body) {
  json value = {{"lending", {{"read", true}}}};
  if (!body.read) {
    const auto& mark = body.memory.mark;
    value["lending"] = {{"at", body.memory.mark_at}, {"mark", {mark[0], mark[1]}}};
  }
  const std::string text = value.dump();
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::optional<LendingBody> decode_lending(std::span<const std::byte> bytes) {
  if (bytes.size() > kLongest) return std::nullopt;
  const auto* first = reinterpret_cast<const char*>(bytes.data());
  const json value = json::parse(first, first + bytes.size(), nullptr, false);
  const auto found = value.is_object() ? value.find("lending") : value.end();
  if (found == value.end() || !found->is_object()) return std::nullopt;
  if (found->value("read", json()) == json(true)) return LendingBody{.read = true};
  const json at = found->value("at", json()), mark = found->value("mark", json());
  if (!at.is_number_unsigned() || !mark.is_array() || mark.size() != 2) return std::nullopt;
  if (!mark[0].is_number_unsigned() || !mark[1].is_number_unsigned()) return std::nullopt;
  return LendingBody{
      .memory = {.mark_at = at.get<std::uint64_t>(),
                 .mark = {mark[0].get<std::uint64_t>(), mark[1].get<std::uint64_t>()}}};
}

pid_t process_behind(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return 0;
  return who.uid == geteuid() ? who.pid : 0;
}

std::vector<std::byte> Lending::connected(bool lends) {
  if (!lends || process_ == 0) return {};
  told_ = true;
  return encode_lending({.memory = core::PeerMemory::of_this_process(nullptr)});
}

Lending::Heard Lending::take(std::span<const std::byte> body) const {
  const auto said = decode_lending(body);
  if (!said || process_ == 0) return {};
  if (said->read) return {.may_lend = told_};
  core::PeerMemory::Address address = said->memory;
  address.pid = process_;
  return {.memory = core::PeerMemory::reach(address)};
}

}  // namespace isthmus::net::shm
