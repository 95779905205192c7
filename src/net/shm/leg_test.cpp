#include "net/shm/leg.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <string>

#include "net/shm/shared_memory.hpp"
#include "net/stream/plain_stream.hpp"
#include "net/stream/stream_io.hpp"
#include "net/ucx/said.hpp"

namespace isthmus::net::shm {
namespace {

using namespace std::chrono_literals;

constexpr core::NodeId kProcess = 3, kGateway = core::kFirstGateway;
constexpr std::size_t kRing = 8192;

class MemoryLegTest : public testing::Test {
 protected:
  MemoryLegTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (int i : {0, 1}) {
      Socket socket(io_, asio::generic::stream_protocol(AF_UNIX, 0), ends[i]);
      streams_[i] = std::make_shared<PlainStream>(std::move(socket), "the peer");
    }
  }

  template <class Body>
  void spawn(std::string& failure, Body body) {
    asio::co_spawn(io_, std::move(body), [&failure](const std::exception_ptr& thrown) {
      try {
        if (thrown) std::rethrow_exception(thrown);
      } catch (const std::exception& error) {
        failure = error.what();
      }
    });
  }
  void ask(std::chrono::milliseconds limit = 60s) {
    spawn(failed_[0], [this, limit]() -> asio::awaitable<void> {
      streams_[0] = co_await shm::ask(streams_[0], kProcess, kRing, limit);
      done_[0] = true;
    });
  }
  void answer(std::chrono::milliseconds limit = 60s) {
    spawn(failed_[1], [this, limit]() -> asio::awaitable<void> {
      const FirstFrame frame = co_await read_frame(*streams_[1], ucx::kMostSaid);
      const auto said = ucx::read_said(frame.body());
      if (!said || said->says != ucx::Says::Memory) throw std::runtime_error("no offer");
      streams_[1] = co_await shm::answer(streams_[1], kGateway, limit);
      done_[1] = true;
    });
  }
  void run() {
    io_.restart();
    io_.run_for(60s);
  }

  // A few bytes each way, then the ends of both.
  void expect_to_speak() {
    for (int i : {0, 1}) {
      std::string text = "none";
      spawn(failed_[i], [this, i]() -> asio::awaitable<void> {
        const std::string word = "from " + std::to_string(i);
        co_await write_all(*streams_[i], std::as_bytes(std::span(word)));
      });
      spawn(failed_[1 - i], [this, i, &text]() -> asio::awaitable<void> {
        std::array<std::byte, 100> bytes;
        const std::size_t n = co_await read_some(*streams_[1 - i], bytes);
        text.assign(reinterpret_cast<const char*>(bytes.data()), n);
      });
      io_.restart();
      while (text == "none" && io_.run_one_for(60s) > 0) {
      }
      EXPECT_EQ(text, "from " + std::to_string(i));
    }
    for (const auto& stream : streams_) stream->close();
    run();
  }

  asio::io_context io_;
  std::shared_ptr<Stream> streams_[2];
  std::string failed_[2];
  bool done_[2] = {};
};

TEST_F(MemoryLegTest, BothEndsGoOverToIt) {
  ask();
  answer();
  run();
  ASSERT_TRUE(done_[0] && done_[1]) << failed_[0] << failed_[1];
  for (const auto& stream : streams_) EXPECT_EQ(stream->leg(), Stream::Leg::Memory);
  expect_to_speak();
}

TEST_F(MemoryLegTest, WhoCannotMakeMemoryAsksForNone) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  ask();
  run();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(done_[0]) << failed_[0];
  EXPECT_EQ(streams_[0]->leg(), Stream::Leg::Socket);
  expect_to_speak();
}

// Each is answered by a No, and the socket goes on.
class BadOffer : public MemoryLegTest, public testing::WithParamInterface<const char*> {};

TEST_P(BadOffer, LeavesTheSocket) {
  const std::string what = GetParam();
  std::string why;
  spawn(failed_[0], [&]() -> asio::awaitable<void> {
    const ucx::Said offer{ucx::Says::Memory};
    co_await ucx::say(*streams_[0], kProcess, offer);
    const int socket = streams_[0]->socket().native_handle();
    if (what == "nothing") {
      EXPECT_EQ(::send(socket, "x", 1, 0), 1);
    } else if (what == "socket") {
      send_descriptor(socket, Descriptor(::dup(socket)));
    } else {
      const SharedMemory memory = SharedMemory::make(what == "small" ? 4096 : 4096 + 2 * 5000);
      send_descriptor(socket, memory.file());
    }
    const ucx::Said reply = co_await ucx::hear(*streams_[0]);
    EXPECT_EQ(reply.says, ucx::Says::No);
    why = reply.why;
  });
  answer();
  run();
  EXPECT_TRUE(done_[1]) << failed_[1];
  EXPECT_FALSE(why.empty());
  EXPECT_EQ(streams_[1]->leg(), Stream::Leg::Socket);
  expect_to_speak();
}

INSTANTIATE_TEST_SUITE_P(Of, BadOffer, testing::Values("nothing", "socket", "small", "odd"),
                         [](const auto& what) { return std::string(what.param); });

TEST_F(MemoryLegTest, WhoIsToldNoKeepsTheSocket) {
  ask();
  spawn(failed_[1], [this]() -> asio::awaitable<void> {
    co_await read_frame(*streams_[1], ucx::kMostSaid);
    std::array<std::byte, 1> byte;
    co_await read_some(*streams_[1], byte);
    const ucx::Said no{ucx::Says::No, "not here"};
    co_await ucx::say(*streams_[1], kGateway, no);
  });
  run();
  ASSERT_TRUE(done_[0]) << failed_[0];
  EXPECT_EQ(streams_[0]->leg(), Stream::Leg::Socket);
  expect_to_speak();
}

TEST_F(MemoryLegTest, SilenceEndsBothSides) {
  ask(50ms);
  run();
  EXPECT_FALSE(done_[0]);
  EXPECT_FALSE(failed_[0].empty());
}

TEST_F(MemoryLegTest, AnOfferThatIsNotFollowedEnds) {
  spawn(failed_[0], [this]() -> asio::awaitable<void> {
    const ucx::Said offer{ucx::Says::Memory};
    co_await ucx::say(*streams_[0], kProcess, offer);
  });
  answer(50ms);
  run();
  EXPECT_FALSE(done_[1]);
  EXPECT_FALSE(failed_[1].empty());
}

}  // namespace
}  // namespace isthmus::net::shm
