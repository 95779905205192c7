#include "net/waiting/io_turn.hpp"

#include <gtest/gtest.h>

#include <asio/executor_work_guard.hpp>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>

namespace isthmus::net {
namespace {

using asio::local::stream_protocol;

/// Memory that has something to tell as often as it is asked to.
class Memory final : public Watched {
 public:
  bool look() override { return news; }
  bool ready() const override { return news; }
  void asleep(bool /*is*/) override {}

  bool news = false;
};

class IoTurnTest : public testing::Test {
 protected:
  IoTurnTest() {
    asio::local::connect_pair(socket_, other_);
    asio::use_service<Watch>(io_).add(memory_);
    EXPECT_TRUE(turn_.try_take());
  }
  ~IoTurnTest() override {
    turn_.give();
    asio::use_service<Watch>(io_).remove(memory_);
  }

  /// Looks until what is written to the socket has been found.
  int looks_for_a_byte() {
    bool found = false;
    socket_.async_wait(stream_protocol::socket::wait_read,
                       [&found](const std::error_code&) { found = true; });
    asio::write(other_, asio::buffer("x", 1));
    int looks = 0;
    for (; !found && looks < 1000; ++looks) turn_.look();
    char byte = 0;
    socket_.read_some(asio::buffer(&byte, 1));
    return looks;
  }

  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  stream_protocol::socket socket_{io_}, other_{io_};
  Memory memory_;
  IoTurn turn_{io_};
};

TEST_F(IoTurnTest, WhoWaitsForASocketFindsItAtOnceBesideMemoryThatIsSilent) {
  looks_for_a_byte();
  for (int i = 0; i < 1000; ++i) turn_.look();
  EXPECT_EQ(looks_for_a_byte(), 1);
}

TEST_F(IoTurnTest, SocketsAreAskedSeldomWhileNewsComeByMemory) {
  memory_.news = true;
  for (int i = 0; i < 1000; ++i) turn_.look();
  const int looks = looks_for_a_byte();
  EXPECT_GT(looks, 1);
  EXPECT_LE(looks, 64);
  memory_.news = false;
  EXPECT_LE(looks_for_a_byte(), 128);
  EXPECT_LE(looks_for_a_byte(), 64);
  EXPECT_EQ(looks_for_a_byte(), 1) << "they alone have brought something";
}

}  // namespace
}  // namespace isthmus::net
