// A file service may reply anything, in any order. Checks that its caller writes only to the memory
// of accesses under way, and reports no more bytes than were requested. The first two bytes of each
// message are its length.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "file/caller.hpp"

using namespace isthmus::file;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kRead = kMostData + 1000, kWritten = 3 * kMostData;
  const auto into = std::make_unique_for_overwrite<std::byte[]>(kRead);
  const auto from = std::make_unique_for_overwrite<std::byte[]>(kWritten);
  const Caller::Send send = [](std::vector<std::byte>) {};
  Caller caller([&](const auto& body) { body(send); }, 3 * kMostData);
  const ExchangeRef read = caller.read(1, 0, {into.get(), kRead});
  const ExchangeRef write = caller.write(1, 5, {from.get(), kWritten});
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(data), size);
  for (std::size_t at = 0; at + 2 <= size;) {
    const std::size_t length = std::min<std::size_t>(data[at] | data[at + 1] << 8U, size - at - 2);
    (void)caller.take(all.subspan(at + 2, length), send);
    at += 2 + length;
  }
  for (const auto& exchange : {read, write}) {
    if (!exchange->done() || exchange->failed()) continue;
    if (exchange->result() > (exchange == read ? kRead : kWritten)) std::abort();
  }
  caller.cancel(read);
  return 0;
}
