#include "daemon/metrics/metrics_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <asio/connect.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <future>
#include <thread>
#include <vector>

#include "daemon/host/failure.hpp"
#include "net/host/address.hpp"

namespace isthmus::daemon {
namespace {

using asio::ip::tcp;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Served : public testing::Test {
 protected:
  Served() : thread_([this] { io_.run(); }) {}
  ~Served() override {
    work_.reset();
    io_.stop();
    thread_.join();
  }
  tcp::socket connected() {
    tcp::socket socket(mine_);
    const auto at = net::parse_address(server_.address());
    socket.connect({asio::ip::make_address(at.host), at.port});
    return socket;
  }
  std::string ask(const std::string& request) {
    tcp::socket socket = connected();
    asio::write(socket, asio::buffer(request));
    std::string reply;
    std::error_code end;
    asio::read(socket, asio::dynamic_buffer(reply), end);
    return reply;
  }

  net::DoorCount turned_away() {
    std::promise<net::DoorCount> count;
    asio::post(io_, [&] { count.set_value(server_.turned_away()); });
    return count.get_future().get();
  }

  asio::io_context io_, mine_;
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
  MetricsServer server_{io_, "tcp:127.0.0.1:0", [] { return std::string("x 1\n"); }};
  std::thread thread_;
};

TEST_F(Served, AnswersAScrape) {
  const std::string reply = ask("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(reply, HasSubstr("\r\n\r\nx 1\n"));
}

TEST_F(Served, AnswersHeadWithoutABody) {
  const std::string reply = ask("HEAD /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\n"));
}

TEST_F(Served, NothingElse) {
  EXPECT_THAT(ask("POST /kill HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_EQ(ask(std::string(10'000, 'x')), "");
  EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("x 1"));
}

TEST_F(Served, ATakenPortIsNamed) {
  try {
    const MetricsServer second(io_, server_.address(), [] { return std::string(); });
    FAIL() << "two servers at one port";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr(server_.address()));
    EXPECT_THAT(failure.remedy(), HasSubstr("--metrics"));
  }
}

constexpr const char* kScrape = "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n";

// They come from one address; half of them send a part of a request. Each newcomer replaces one.
TEST_F(Served, StrangersWhoHoldConnectionsKeepNoScrapeOut) {
  constexpr std::size_t kStrangers = 600, kPlaces = core::Admission::Limits{}.of_network;
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  ASSERT_GE(files.rlim_max, 4 * kPlaces) << "the test needs more files";
  const rlim_t before = std::exchange(files.rlim_cur, files.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  {
    MetricsServer crowded(io_, "tcp:127.0.0.1:0", [] { return std::string("y 2\n"); });
    std::vector<tcp::socket> strangers;
    const auto at = net::parse_address(crowded.address());
    const tcp::endpoint door(asio::ip::make_address(at.host), at.port);
    for (std::size_t i = 0; i < kStrangers; ++i) {
      strangers.emplace_back(mine_);
      strangers.back().connect(door);
      if (i % 2 == 0) asio::write(strangers.back(), asio::buffer("GET /metr", 9));
    }
    for (int i = 0; i < 20; ++i) {
      tcp::socket scraper(mine_);
      scraper.connect(door);
      asio::write(scraper, asio::buffer(std::string(kScrape)));
      std::string reply;
      std::error_code end;
      asio::read(scraper, asio::dynamic_buffer(reply), end);
      EXPECT_THAT(reply, EndsWith("\r\n\r\ny 2\n"));
    }
    std::promise<net::DoorCount> count;
    asio::post(io_, [&] { count.set_value(crowded.turned_away()); });
    EXPECT_EQ(count.get_future().get().dropped, kStrangers - kPlaces + 1);
    std::promise<void> closed;  // on the thread of its io_context
    asio::post(io_, [&] { closed.set_value(); });
    closed.get_future().get();
  }
  files.rlim_cur = before;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

TEST_F(Served, OnlyWhatIsNoScrapeCountsAsRefused) {
  EXPECT_THAT(ask(kScrape), HasSubstr("x 1"));
  EXPECT_EQ(ask(std::string(10'000, 'x')), "");
  EXPECT_EQ(turned_away().refused, 1U);
  EXPECT_EQ(turned_away().dropped, 0U);
}

}  // namespace
}  // namespace isthmus::daemon
