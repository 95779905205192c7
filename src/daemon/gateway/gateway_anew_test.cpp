// A relay that dies and is restarted: nothing is lost, and the run notices only a delay.
#include <thread>

#include "daemon/gateway/gateway_flood.hpp"
#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::size_t kRelay = 2;

BedOptions relayed(int streams = 1) {
  return {.sizes = {2, 2}, .relay = true, .streams = streams, .patience = 20min};
}

void restart(Testbed& bed) {
  bed.destroy_gateway(kRelay);
  ASSERT_EQ(bed.gateway_comes_anew(kRelay), "");
}

void expect_whole(Testbed& bed) {
  for (int r = 0; r < bed.world().size(); ++r) EXPECT_FALSE(bed.faulted(r));
  EXPECT_FALSE(bed.warned(0) || bed.warned(1));
}

class RelayAnew : public testing::TestWithParam<int> {};

TEST_P(RelayAnew, UnderLoad) {
  Testbed bed(relayed(GetParam()));
  bed.start();
  for (int times = 0; times < 3; ++times) {
    const auto crossed = [&] { return bed.counts(0).at(0).wire_bytes; };
    std::thread killer([&] {
      // The counts of a new conduit begin at zero.
      while (crossed() < 500'000) std::this_thread::sleep_for(100us);
      restart(bed);
    });
    flood(bed, 2);
    killer.join();
  }
  flood(bed, 1);
  bed.leave_all();
  expect_whole(bed);
}
INSTANTIATE_TEST_SUITE_P(Streams, RelayAnew, testing::Values(1, 4));

TEST(RelayAnew, WhileNothingIsUnderWay) {
  Testbed bed(relayed());
  bed.start();
  bed.exchange(0, 2, 1000);
  restart(bed);
  bed.exchange(0, 2, 1000, 2);
  bed.exchange(3, 1, 1'000'000, 3);
  restart(bed);
  bed.exchange(3, 1, 1'000'000, 4);
  bed.leave_all();
  expect_whole(bed);
}

// The new relay learns again which processes have joined.
TEST(RelayAnew, BeforeAllHaveJoined) {
  Testbed bed(relayed());
  ASSERT_EQ(bed.link(), "");
  std::thread killer([&] {
    for (int times = 0; times < 5; ++times) restart(bed);
  });
  bed.join();
  killer.join();
  bed.exchange(0, 2, 1000);
  bed.leave_all();
  expect_whole(bed);
}

}  // namespace
}  // namespace isthmus::daemon
