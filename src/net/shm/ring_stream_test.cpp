#include "net/shm/ring_stream.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <chrono>
#include <vector>

#include "net/stream/plain_stream.hpp"

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;

/// Whether the thread that runs the io_context looks at rings, or sleeps and is woken.
enum class Runs { Looking, Sleeping };

class RingStreamTest : public testing::TestWithParam<Runs> {
 protected:
  RingStreamTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (int i : {0, 1}) {
      Socket socket(io_, asio::generic::stream_protocol(AF_UNIX, 0), ends[i]);
      plain_[i] = std::make_shared<PlainStream>(std::move(socket), "the peer");
    }
  }

  void open() {
    asio::co_spawn(
        io_, [this]() -> asio::awaitable<void> { taker_ = co_await RingStream::accept(plain_[1]); },
        asio::detached);
    maker_ = RingStream::offer(*plain_[0], 4096);
    ASSERT_TRUE(run_until([this] { return taker_ != nullptr; }));
  }

  // Until `done` or for a minute.
  template <class Done>
  bool run_until(Done done) {
    auto& rings = asio::use_service<Watch>(io_);
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (!done() && std::chrono::steady_clock::now() < limit) {
      if (GetParam() == Runs::Looking) {
        rings.stay_awake();
        rings.look();
        io_.poll();
        io_.restart();
      } else {
        if (!rings.may_sleep()) rings.look();
        io_.restart();
        io_.run_one_for(10ms);
      }
    }
    return done();
  }

  // Sends `left` bytes, as a driver does: whenever there is room.
  void pour(const std::shared_ptr<RingStream>& stream, std::size_t left) {
    std::vector<std::byte> bytes(std::min<std::size_t>(left, 3000));
    const iovec part{bytes.data(), bytes.size()};
    while (left > 0) {
      const auto moved = stream->write({&part, 1});
      if (moved.error) return;
      left -= moved.bytes;
      if (moved.wait == Stream::Wait::None) {
        if (left < bytes.size()) return pour(stream, left);
        continue;
      }
      return stream->wait(moved.wait, [this, stream, left](const std::error_code& error) {
        if (!error) pour(stream, left);
      });
    }
  }
  void drain(const std::shared_ptr<RingStream>& stream, std::size_t& sum, std::error_code& end) {
    std::vector<std::byte> bytes(1000);
    const iovec part{bytes.data(), bytes.size()};
    while (true) {
      const auto moved = stream->read({&part, 1});
      sum += moved.bytes;
      if (moved.error) {
        end = moved.error;
        return;
      }
      if (moved.wait == Stream::Wait::None) continue;
      if (stream->wait_again(moved.wait)) return;
      return stream->wait(moved.wait, [this, stream, &sum, &end](const std::error_code& error) {
        if (error) {
          end = error;
        } else {
          drain(stream, sum, end);
        }
      });
    }
  }

  asio::io_context io_;
  std::shared_ptr<Stream> plain_[2];
  std::shared_ptr<RingStream> maker_, taker_;
};

TEST_P(RingStreamTest, BytesOfBothDirectionsArriveThroughRingsOfAFewKilobytes) {
  open();
  constexpr std::size_t kAll = 3'000'000;
  std::size_t here = 0, there = 0;
  std::error_code end_here, end_there;
  pour(maker_, kAll);
  pour(taker_, kAll);
  drain(maker_, here, end_here);
  drain(taker_, there, end_there);
  EXPECT_TRUE(run_until([&] { return here == kAll && there == kAll; })) << here << ' ' << there;
  EXPECT_FALSE(end_here);
  EXPECT_FALSE(end_there);
  maker_->close();
  taker_->close();
  io_.poll();
}

TEST_P(RingStreamTest, AWaitThatHasEndedBeginsAgainOnceWithTheSameFunction) {
  open();
  EXPECT_FALSE(taker_->wait_again(Stream::Wait::Readable)) << "none has ended";
  std::size_t calls = 0, sum = 0;
  const auto hears = [&, own = std::make_shared<int>(7)](const std::error_code&) {
    std::array<std::byte, 100> bytes;
    const iovec part{bytes.data(), bytes.size()};
    sum += taker_->read({&part, 1}).bytes;
    EXPECT_EQ(*own, 7);
    if (++calls == 3) return;
    EXPECT_TRUE(taker_->wait_again(Stream::Wait::Readable));
    EXPECT_FALSE(taker_->wait_again(Stream::Wait::Readable)) << "it has begun";
  };
  taker_->wait(Stream::Wait::Readable, hears);
  for (std::size_t i = 1; i <= 3; ++i) {
    pour(maker_, 10);
    EXPECT_TRUE(run_until([&] { return sum == 10 * i; }));
  }
  pour(maker_, 10);
  bool writable = false;  // which is looked for with what has come
  taker_->wait(Stream::Wait::Writable, [&](const std::error_code&) { writable = true; });
  EXPECT_TRUE(run_until([&] { return writable; }));
  EXPECT_EQ(calls, 3U);
  maker_->close();
  taker_->close();
  io_.poll();
}

TEST_P(RingStreamTest, WhatIsLeftComesBeforeTheEnd) {
  open();
  pour(maker_, 2000);
  maker_->close();
  const std::byte byte{};
  const iovec part{const_cast<std::byte*>(&byte), 1};
  bool writable = false;  // which also has the end of the socket noticed
  taker_->wait(Stream::Wait::Writable, [&](const std::error_code&) { writable = true; });
  EXPECT_TRUE(run_until([&] { return writable; }));
  for (int i = 0; i < 3; ++i) {
    io_.run_one_for(1ms);
    EXPECT_FALSE(taker_->write({&part, 1}).error) << "before what is left has been read";
  }
  std::size_t there = 0;
  std::error_code end;
  drain(taker_, there, end);
  EXPECT_TRUE(run_until([&] { return !!end; }));
  EXPECT_EQ(there, 2000U);
  EXPECT_EQ(end, asio::error::eof);
  EXPECT_TRUE(ended_by_peer(end));
  EXPECT_TRUE(ended_by_peer(taker_->write({&part, 1}).error));
  taker_->close();
  io_.poll();
}

TEST_P(RingStreamTest, ClosingEndsWaits) {
  open();
  std::size_t there = 0;
  std::error_code end;
  drain(taker_, there, end);
  run_until([&] { return true; });
  taker_->close();
  EXPECT_TRUE(run_until([&] { return !!end; }));
  EXPECT_EQ(end, asio::error::operation_aborted);
  maker_->close();
  io_.poll();
}

TEST_P(RingStreamTest, AByteWithoutMemoryIsAnError) {
  std::string failure;
  asio::co_spawn(
      io_,
      [&]() -> asio::awaitable<void> {
        try {
          taker_ = co_await RingStream::accept(plain_[1]);
        } catch (const std::exception& e) {
          failure = e.what();
        }
      },
      asio::detached);
  ASSERT_EQ(::send(plain_[0]->socket().native_handle(), "x", 1, 0), 1);
  EXPECT_TRUE(run_until([&] { return !failure.empty(); }));
  EXPECT_EQ(failure, "the peer speaks without giving shared memory");
}

INSTANTIATE_TEST_SUITE_P(ByRunning, RingStreamTest, testing::Values(Runs::Looking, Runs::Sleeping),
                         [](const auto& run) {
                           return run.param == Runs::Looking ? "Looking" : "Sleeping";
                         });

}  // namespace
}  // namespace isthmus::net
