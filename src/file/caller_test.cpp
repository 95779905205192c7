#include "file/caller.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "file/error.hpp"

namespace isthmus::file {
namespace {

/// A caller whose requests are never answered.
class Unanswered : public testing::Test {
 protected:
  void await_requests(std::size_t number) {
    for (;;) {
      const core::Lock lock(mutex_);
      if (sent_ >= number) return;
    }
  }

  core::Mutex mutex_;
  std::size_t sent_ GUARDED_BY(mutex_) = 0;
  std::vector<std::byte> memory_ = std::vector<std::byte>(100);
  Caller caller_{[this](const auto& body) {
    const core::Lock lock(mutex_);
    body([this](const std::vector<std::byte>&) { ++sent_; });
  }};
};

int error_of(const Exchange& exchange) {
  try {
    exchange.result();
  } catch (const Error& error) {
    return error.number;
  }
  return 0;
}

TEST_F(Unanswered, WhatIsUnderWayEndsWhenTheServiceFails) {
  const ExchangeRef read = caller_.read(1, 0, memory_);
  const ExchangeRef large = caller_.write(1, 0, std::vector<std::byte>(4 * kMostUnderWay));
  int error = 0;
  std::thread calling([&] {
    try {
      caller_.call({});
    } catch (const Error& failure) {
      error = failure.number;
    }
  });
  await_requests(3);
  EXPECT_FALSE(read->done());
  EXPECT_FALSE(large->done());
  caller_.lose(EHOSTDOWN, "its cluster has failed");
  calling.join();
  EXPECT_EQ(error, EHOSTDOWN);
  caller_.wait(*read);
  caller_.wait(*large);
  EXPECT_EQ(error_of(*read), EHOSTDOWN);
  EXPECT_EQ(error_of(*large), EHOSTDOWN);
}

TEST_F(Unanswered, WhatBeginsLaterEndsAtOnce) {
  caller_.lose(EHOSTDOWN, "its cluster has failed");
  const ExchangeRef read = caller_.read(1, 0, memory_);
  ASSERT_TRUE(read->done());
  EXPECT_EQ(error_of(*read), EHOSTDOWN);
  EXPECT_THROW(caller_.call({}), Error);
}

}  // namespace
}  // namespace isthmus::file
