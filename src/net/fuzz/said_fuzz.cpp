// The other end of a stream may say anything about its leg before it says Hello. There is no access
// beyond it, and what is read is whole and reads the same again.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "net/ucx/said_body.hpp"

using namespace isthmus::net::ucx;

namespace {

void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMostSaid) return 0;
  const std::optional<Said> said = read_said(std::as_bytes(std::span(data, size)));
  if (!said) return 0;
  demand(said->says <= Says::Memory);
  demand(said->says == Says::No || said->why.empty());
  for (const char letter : said->why) demand(static_cast<unsigned char>(letter) >= ' ');
  if (said->says == Says::Here) demand(said->card.window > 0 && !said->card.address.empty());
  const std::vector<std::byte> body = write_said(*said);
  demand(body.size() <= size);
  const std::optional<Said> again = read_said(body);
  demand(again && again->says == said->says && again->why == said->why);
  demand(again->card.key == said->card.key && again->card.window == said->card.window);
  demand(again->card.version == said->card.version && again->card.address == said->card.address);
  return 0;
}
