// Runs the fuzzer's harness over random steps, for compilers without a fuzzer.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

TEST(FrameRunReplay, LosesNoByteWhateverComes) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::vector<std::uint8_t> steps(4 + 3 * (random() % 6));
    for (std::uint8_t& byte : steps) byte = static_cast<std::uint8_t>(random());
    EXPECT_EQ(LLVMFuzzerTestOneInput(steps.data(), steps.size()), 0);
  }
}

}  // namespace
