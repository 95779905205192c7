// Runs the fuzzer's harness over random steps, for compilers without a fuzzer.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

TEST(TlsReplay, ReadsOnlyWhatThePeerHasSealed) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::uint8_t> steps(2 + 4 * (random() % 12));
    for (std::uint8_t& byte : steps) byte = static_cast<std::uint8_t>(random());
    // Some leave the stream whole.
    if (i % 2 == 0) {
      for (std::size_t at = 2; at < steps.size(); at += 4) {
        const std::uint8_t whole[] = {0, 2, 5, 6};
        steps[at] = whole[random() % 4];
        if (steps[at] == 2) steps[at + 1] |= 2;
      }
    }
    EXPECT_EQ(LLVMFuzzerTestOneInput(steps.data(), steps.size()), 0);
  }
}

}  // namespace
