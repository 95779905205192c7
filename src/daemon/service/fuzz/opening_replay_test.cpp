// Runs the fuzzer's harness over mutations of an opening, for compilers without a fuzzer.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

TEST(OpeningReplay, SurvivesWhateverStrangersSend) {
  std::mt19937 random(1);
  const std::string good =
      std::string("ISTHMUS\n\x01\x09", 10) + "alice/job" + std::string(32, 'x');
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (unsigned n = random() % 4; n > 0 && !bytes.empty(); --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 3 == 0) bytes.append(random() % 400, static_cast<char>(random()));
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    EXPECT_EQ(LLVMFuzzerTestOneInput(data, bytes.size()), 0);
  }
}

}  // namespace
