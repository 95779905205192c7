#include "coll/estimate/estimate.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

namespace isthmus::coll {
namespace {

double seconds(const std::string& line) {
  const std::string text = estimate(line);
  return std::stod(text.substr(text.find(' ')));
}

TEST(Estimate, SmallOnesTakeTheDelayOnceAndLargeOnesTheirBytes) {
  const std::string over = " 0x2,1x2 wan-latency=10ms,wan-rate=1G";
  for (const char* kind : {"barrier 0", "allreduce 8", "bcast 8", "alltoall 32", "allgather 32"}) {
    EXPECT_NEAR(seconds(kind + over), 0.0105, 0.0006) << kind;
  }
  EXPECT_GT(seconds("bcast 125000000" + over), 1.0);
  EXPECT_LT(seconds("bcast 125000000" + over), 1.4);
  EXPECT_LT(seconds("allreduce 8 0x4"), 1e-4);
}

TEST(Estimate, AnswersLineByLineUntilOneIsWrong) {
  std::istringstream in("barrier 0 0x1,1x1\nbarrier x 0x1,1x1\nbarrier 0 0x1,1x1\n");
  std::ostringstream out, err;
  EXPECT_EQ(run_estimates(in, out, err), 2);
  const std::string said = out.str();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  EXPECT_NE(err.str().find("'x' is not a number"), std::string::npos) << err.str();
}

TEST(Estimate, SaysWhatIsWrong) {
  for (const char* wrong : {"", "sort 8 0x1", "bcast -1 0x1", "bcast 8", "bcast 8 0",
                            "bcast 8 0x99999999", "bcast 8 0x1,1x1 wan-latency=soon"}) {
    EXPECT_THROW(estimate(wrong), std::invalid_argument) << wrong;
  }
}

}  // namespace
}  // namespace isthmus::coll
