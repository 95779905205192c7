// The fuzzer's corpus, and random mutations of it, on every build.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "core/fuzz/deliver_harness.hpp"

namespace isthmus::core {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> corpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(ISTHMUS_DELIVER_CORPUS)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

TEST(DeliverReplay, TheCorpusSpeaksTheProtocol) {
  const auto inputs = corpus();
  ASSERT_FALSE(inputs.empty());
  std::size_t accepted = 0;
  for (const Bytes& input : inputs) accepted += run_deliver_input(input);
  EXPECT_GT(accepted, inputs.size()) << "the corpus no longer reaches into the engine";
}

TEST(DeliverReplay, MutationsBreakNoBound) {
  const auto inputs = corpus();
  ASSERT_FALSE(inputs.empty());
  std::mt19937 random(5);
  std::size_t accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes input = inputs[random() % inputs.size()];
    const Bytes& other = inputs[random() % inputs.size()];
    for (std::size_t n = 1 + random() % 4; n > 0 && !input.empty(); --n) {
      const auto at = static_cast<std::ptrdiff_t>(random() % input.size());
      switch (random() % 4) {
        case 0:
          input[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random());
          break;
        case 1:
          input.erase(input.begin() + at);
          break;
        case 2:
          input.insert(input.begin() + at, static_cast<std::uint8_t>(random() % 16));
          break;
        default:
          input.insert(input.begin() + at, other.begin(), other.end());
          break;
      }
    }
    accepted += run_deliver_input(input);
  }
  EXPECT_GT(accepted, 20'000U);
}

}  // namespace
}  // namespace isthmus::core
