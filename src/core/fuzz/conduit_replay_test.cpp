// Replays the fuzzer's corpus, and mutations of it, for builds without a fuzzer.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

TEST(ConduitReplay, SurvivesEveryInputAndItsMutations) {
  std::mt19937 random(1);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ISTHMUS_CONDUIT_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(bytes.empty()) << entry.path();
    ++files;
    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
    for (int i = 0; i < 500; ++i) {
      auto mutated = bytes;
      for (int n = 0; n < 1 + i % 4; ++n) {
        mutated[random() % mutated.size()] = static_cast<std::uint8_t>(random());
      }
      EXPECT_EQ(LLVMFuzzerTestOneInput(mutated.data(), mutated.size()), 0);
    }
  }
  EXPECT_GE(files, 5);
}

}  // namespace
