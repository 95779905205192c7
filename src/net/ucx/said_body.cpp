#include "net/ucx/said_body.hpp"

#include <algorithm>

#include "core/wire/wire.hpp"

namespace isthmus::net::ucx {

std::vector<std::byte> write_said(const Said& said) {
  std::vector<std::byte> body;
  core::Writer writer(body);
  writer.u8(static_cast<std::uint8_t>(said.says));
  if (said.says == Says::No) writer.text(said.why.substr(0, 255));
  if (said.says != Says::Here) return body;
  for (const std::uint64_t part : said.card.key) writer.u64(part);
  writer.u32(said.card.window);
  writer.u32(said.card.version);
  body.insert(body.end(), said.card.address.begin(), said.card.address.end());
  return body;
}

std::optional<Said> read_said(std::span<const std::byte> body) {
  constexpr std::size_t kFixed = 1 + sizeof(Key) + 2 * sizeof(std::uint32_t);
  core::Reader reader(body);
  Said said;
  said.says = static_cast<Says>(reader.u8());
  if (said.says == Says::No) {
    said.why = reader.text();
    std::replace_if(
        said.why.begin(), said.why.end(), [](unsigned char c) { return c < ' '; }, ' ');
  } else if (said.says == Says::Here) {
    for (std::uint64_t& part : said.card.key) part = reader.u64();
    said.card.window = reader.u32();
    said.card.version = reader.u32();
    if (body.size() <= kFixed || said.card.window == 0) return std::nullopt;
    said.card.address.assign(body.begin() + kFixed, body.end());
  } else if (said.says != Says::Good && said.says != Says::Memory) {
    return std::nullopt;
  }
  return reader.good() ? std::optional(said) : std::nullopt;
}

}  // namespace isthmus::net::ucx
