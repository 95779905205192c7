// Another member may send any records. Checks that they reach only its window's memory, and that an
// answer is at most as long as a service's message. The first byte of each message is its length,
// and the last bit of that its tag: records or data. Inputs of odd length meet memory of a device.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "core/engine/engine.hpp"
#include "rma/window.hpp"

using namespace isthmus;

namespace {

// Memory of the host stands for it, so that the sanitizer sees what is outside.
class Copies final : public rma::DeviceCopies {
 public:
  void to_host(std::byte* to, const std::byte* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void to_device(std::byte* to, const std::byte* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void end() override {}
};
std::unique_ptr<rma::DeviceCopies> open_copies(const std::byte* /*at*/) {
  return std::make_unique<Copies>();
}

}  // namespace

// Data that was announced and never comes is waited for until the job ends.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kContext = 6;
  const std::vector<core::NodeId> nodes{10, 11};
  core::Engine engine(nodes[0]);
  std::vector<std::byte> memory(4096);
  rma::Window window(engine,
                     {.context = kContext, .rank = 0, .nodes = nodes, .open_device = open_copies},
                     rma::Memory::fixed(memory.data(), memory.size(),
                                        size % 2 == 0 ? rma::Reach::Cpu : rma::Reach::Device));
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(data), size);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t length = std::min<std::size_t>(data[at], all.size() - at - 1);
    const core::Envelope envelope{.context = kContext, .source = 1, .tag = data[at] & 1};
    if (!window.take(nodes[1], envelope, all.subspan(at + 1, length))) break;
    core::OutFrame out;
    while (engine.next_frame(out)) {
      if (out.payload.size() > core::kMostServiceBytes) std::abort();
    }
    at += 1 + length;
  }
  return 0;
}
