#include "net/ucx/ucx_stream.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "net/stream/handshake.hpp"
#include "net/stream/plain_stream.hpp"
#include "net/stream/stream_io.hpp"
#include "net/ucx/leg.hpp"
#include "net/ucx/worker.hpp"

namespace isthmus::net::ucx {
namespace {

using namespace std::chrono_literals;

/// The transports of UCX, and whether the threads look at it or sleep and are woken.
struct Case {
  const char* transports;
  bool looking;
};

void PrintTo(const Case& shown, std::ostream* out) { *out << shown.transports; }

// Two nodes, each with an io_context of its own, which one thread runs in turns.
class UcxStreamTest : public testing::TestWithParam<Case> {
 protected:
  UcxStreamTest() {
    ::setenv("ISTHMUS_UCX_TLS", GetParam().transports, 1);
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (int i : {0, 1}) {
      Socket socket(io_[i], asio::generic::stream_protocol(AF_UNIX, 0), ends[i]);
      plain_[i] = std::make_shared<PlainStream>(std::move(socket), "the peer");
    }
  }
  ~UcxStreamTest() override {
    for (const auto& stream : stream_) {
      if (stream) stream->close();  // who waits for it holds it
    }
    for (asio::io_context& io : io_) {  // it hears of that, and lets go
      io.restart();
      io.poll();
    }
    ::unsetenv("ISTHMUS_UCX_TLS");
  }

  void open() {
    asio::co_spawn(
        io_[0],
        [this]() -> asio::awaitable<void> {
          const Ends ends{1, 60s};
          stream_[0] = co_await ask(plain_[0], ends, true);
        },
        [this](const std::exception_ptr& error) { note(error); });
    asio::co_spawn(
        io_[1],
        [this]() -> asio::awaitable<void> {
          const Ends ends{2, 60s};
          const FirstFrame frame = co_await read_frame(*plain_[1], 16384);
          stream_[1] = co_await answer(plain_[1], ends, frame.body());
        },
        [this](const std::exception_ptr& error) { note(error); });
    ASSERT_TRUE(run_until([this] { return stream_[0] && stream_[1]; })) << trouble_;
    for (const auto& stream : stream_) ASSERT_EQ(stream->leg(), Stream::Leg::Ucx);
  }

  void note(const std::exception_ptr& error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const std::exception& e) {
      trouble_ += e.what();
    }
  }

  // Until `done` or for a minute.
  template <class Done>
  bool run_until(Done done) {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (!done() && std::chrono::steady_clock::now() < limit) {
      for (asio::io_context& io : io_) {
        auto& watch = asio::use_service<Watch>(io);
        io.restart();
        if (GetParam().looking) {
          watch.stay_awake();
          watch.look();
          io.poll();
        } else {
          if (!watch.may_sleep()) watch.look();
          io.run_one_for(1ms);
        }
      }
    }
    return done();
  }

  // Sends what is left of `bytes`, as a driver does: whenever there is room.
  void pour(const std::shared_ptr<Stream>& stream, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
      const auto moved = stream->write({&part, 1});
      if (moved.error) return;
      bytes = bytes.subspan(moved.bytes);
      if (moved.wait == Stream::Wait::None) continue;
      return stream->wait(moved.wait, [this, stream, bytes](const std::error_code& error) {
        if (!error) pour(stream, bytes);
      });
    }
  }

  // Reads until the end, or an error.
  void drain(const std::shared_ptr<Stream>& stream) {
    std::vector<std::byte> bytes(5000);
    const iovec part{bytes.data(), bytes.size()};
    while (true) {
      const auto moved = stream->read({&part, 1});
      came_.insert(came_.end(), bytes.begin(),
                   bytes.begin() + static_cast<std::ptrdiff_t>(moved.bytes));
      if (moved.error) {
        end_ = moved.error;
        return;
      }
      if (moved.wait == Stream::Wait::None) continue;
      return stream->wait(moved.wait, [this, stream](const std::error_code&) { drain(stream); });
    }
  }

  static std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
    return bytes;
  }

  asio::io_context io_[2];
  std::shared_ptr<Stream> plain_[2], stream_[2];
  std::vector<std::byte> came_;
  std::error_code end_;
  std::string trouble_;
};

TEST_P(UcxStreamTest, EveryByteArrivesInOrderAndThenTheEnd) {
  open();
  const auto sent = pattern(3'000'000);
  drain(stream_[1]);
  pour(stream_[0], sent);
  ASSERT_TRUE(run_until([&] { return came_.size() >= sent.size(); })) << came_.size();
  pour(stream_[0], std::span(sent).first(1000));
  stream_[0]->close();
  ASSERT_TRUE(run_until([&] { return static_cast<bool>(end_); }));
  EXPECT_EQ(end_, asio::error::eof);
  ASSERT_EQ(came_.size(), sent.size() + 1000);
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), came_.begin()));
  EXPECT_TRUE(std::equal(sent.begin(), sent.begin() + 1000, came_.end() - 1000));
}

TEST_P(UcxStreamTest, WhoDoesNotReadHoldsTheWriterUp) {
  open();
  const auto sent = pattern(4'000'000);
  std::size_t taken = 0;
  run_until([&] {
    const iovec part{const_cast<std::byte*>(sent.data()) + taken, sent.size() - taken};
    const auto moved = stream_[0]->write({&part, 1});
    taken += moved.bytes;
    return moved.wait == Stream::Wait::Writable;
  });
  EXPECT_GT(taken, 0U);
  EXPECT_LE(taken, std::size_t{512} << 10);
  bool again = false;
  stream_[0]->wait(Stream::Wait::Writable, [&](const std::error_code&) { again = true; });
  drain(stream_[1]);
  EXPECT_TRUE(run_until([&] { return again; })) << "room is told";
}

TEST_P(UcxStreamTest, AConnectionThatBreaksIsTheEnd) {
  open();
  drain(stream_[1]);
  ::shutdown(stream_[0]->socket().native_handle(), SHUT_RDWR);
  EXPECT_TRUE(run_until([&] { return static_cast<bool>(end_); }));
}

TEST(UcxLibraryTest, TheProgramKeepsItsHandlers) {
  const auto mine = [](int) {};
  ::signal(SIGSEGV, mine);
  asio::io_context io;
  const Pipe pipe(Worker::of(io));
  struct sigaction now {};
  ::sigaction(SIGSEGV, nullptr, &now);
  EXPECT_EQ(now.sa_handler, static_cast<void (*)(int)>(mine));
  ::signal(SIGSEGV, SIG_DFL);
}

INSTANTIATE_TEST_SUITE_P(, UcxStreamTest,
                         testing::Values(Case{"tcp", true}, Case{"tcp", false},
                                         Case{"posix,self", true}, Case{"posix,self", false},
                                         Case{"sysv,self", false}),
                         [](const auto& info) {
                           std::string name = info.param.transports;
                           name = name.substr(0, name.find(','));
                           return name + (info.param.looking ? "Looking" : "Sleeping");
                         });

}  // namespace
}  // namespace isthmus::net::ucx
