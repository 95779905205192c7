#include "net/host/congestion.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace isthmus::net {
namespace {

class Congestion : public testing::Test {
 protected:
  void TearDown() override {
    ::close(tcp_);
    ::close(unix_);
  }
  int tcp_ = ::socket(AF_INET, SOCK_STREAM, 0), unix_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
};

TEST_F(Congestion, IsSetPerConnection) {
  EXPECT_FALSE(set_congestion(tcp_, "reno"));  // every kernel has it, for everybody
  EXPECT_EQ(congestion_of(tcp_), "reno");
}

TEST_F(Congestion, SaysWhatTheKernelLacks) {
  const auto error = set_congestion(tcp_, "isthmus-none");
  EXPECT_TRUE(error == std::errc::no_such_file_or_directory ||
              error == std::errc::permission_denied)
      << error.message();
}

TEST_F(Congestion, LeavesOtherSocketsAlone) {
  EXPECT_EQ(congestion_of(unix_), "");
  EXPECT_FALSE(set_congestion(unix_, "reno"));
  EXPECT_FALSE(begins_anew_after_pauses(unix_));
}

}  // namespace
}  // namespace isthmus::net
