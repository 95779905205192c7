#include "net/waiting/socket_look.hpp"

#include <gtest/gtest.h>

#include <asio/io_context.hpp>

namespace isthmus::net {
namespace {

class News final : public SocketLook {
 public:
  explicit News(Watch& watch) : SocketLook(watch) {}
  using SocketLook::begin_looks;
  using SocketLook::end_looks;

  int left = 0;       // to be read, one a look
  int asked = 0;      // looks
  bool ends = false;  // a read ends the looks

 private:
  bool read_news() override {
    ++asked;
    if (ends) end_looks();
    if (left == 0) return false;
    --left;
    return true;
  }
};

class SocketLookTest : public testing::Test {
 protected:
  asio::io_context io_;
  Watch& watch_ = asio::use_service<Watch>(io_);
  News one_{watch_}, two_{watch_}, three_{watch_};
};

TEST_F(SocketLookTest, BeginsWithNewsWhileSomebodyLooks) {
  one_.begin_looks();
  EXPECT_FALSE(watch_.any()) << "who sleeps is woken by the socket's own wait";
  watch_.stay_awake();
  one_.begin_looks();
  one_.left = 1;
  EXPECT_TRUE(watch_.look());
  EXPECT_FALSE(watch_.look());
  EXPECT_TRUE(watch_.may_sleep());
}

TEST_F(SocketLookTest, EndsAfterManyLooksInVain) {
  watch_.stay_awake();
  one_.begin_looks();
  for (unsigned i = 0; i < 2 * SocketLook::kVain; ++i) {
    if (i == SocketLook::kVain / 2) one_.left = 1;
    watch_.look();
  }
  EXPECT_EQ(one_.asked, static_cast<int>(SocketLook::kVain / 2 + 1 + SocketLook::kVain));
  EXPECT_FALSE(watch_.any());
  one_.begin_looks();
  EXPECT_TRUE(watch_.any()) << "news have come again";
}

TEST_F(SocketLookTest, FewAreLookedAt) {
  watch_.stay_awake();
  for (News* const each : {&one_, &two_, &three_, &one_}) each->begin_looks();
  EXPECT_EQ(watch_.sockets(), SocketLook::kMost);
  one_.ends = true;
  watch_.look();
  three_.begin_looks();
  three_.left = 1;
  EXPECT_TRUE(watch_.look());
}

}  // namespace
}  // namespace isthmus::net
