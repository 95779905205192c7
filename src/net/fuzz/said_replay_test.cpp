// Runs the fuzzer's harness over lawful bodies and mutations of them, for compilers without a
// fuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "net/ucx/said_body.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using isthmus::net::ucx::Said;
using isthmus::net::ucx::Says;

TEST(SaidReplay, SurvivesEveryBodyAndItsMutations) {
  const Said no{.why = "there is no memory"};
  Said here{.says = Says::Here};
  here.card.window = 1 << 19;
  here.card.address.resize(40);
  std::mt19937 random(1);
  for (const Said& said : {no, here, Said{Says::Good}, Said{Says::Memory}}) {
    const auto body = isthmus::net::ucx::write_said(said);
    for (int i = 0; i < 3000; ++i) {
      std::vector<std::uint8_t> bytes(body.size());
      std::transform(body.begin(), body.end(), bytes.begin(),
                     [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
      for (int n = 0; n < i % 4; ++n) {
        bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
      }
      bytes.resize(i % 3 == 0 ? bytes.size() : random() % (bytes.size() + 20));
      EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
    }
  }
}

}  // namespace
