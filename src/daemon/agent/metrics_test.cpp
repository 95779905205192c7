#include "daemon/agent/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <asio/connect.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <thread>

#include "daemon/launch/failure.hpp"
#include "net/address.hpp"

namespace isthmus::daemon {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

core::World world() {
  core::World world;
  world.clusters = {{"a\"b", 0, 1}, {"c", 1, 1}};
  world.gateways = {{core::kFirstGateway, {0}, {}},
                    {core::kFirstGateway + 1, {1}, {}},
                    {core::kFirstGateway + 2, {1}, {}}};
  return world;
}

TEST(MetricsText, HasASampleForEachLink) {
  LinkCount count;
  count.from = core::kFirstGateway;
  count.to = core::kFirstGateway + 2;
  count.messages = 7;
  count.rtt = std::chrono::microseconds(11'600);
  count.silence = std::chrono::milliseconds(42'500);
  const std::string text = metrics_text("job", world(), {count}, {{"a\"b", 3}});
  EXPECT_THAT(text, HasSubstr("isthmus_ranks_joined{run=\"job\",cluster=\"a\\\"b\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("isthmus_ranks{run=\"job\",cluster=\"a\\\"b\"} 1\n"));
  // The agent of that cluster knows how many have joined; here it would be 0.
  EXPECT_THAT(text, Not(HasSubstr("cluster=\"c\"")));
  EXPECT_THAT(text, HasSubstr("isthmus_build_info{version=\"" ISTHMUS_VERSION "\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE isthmus_link_messages_total counter\n"
                              "isthmus_link_messages_total{run=\"job\",from=\"a\\\"b/0\","
                              "to=\"c/1\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("isthmus_link_rtt_seconds{run=\"job\",from=\"a\\\"b/0\",to=\"c/1\"} "
                              "0.0116\n"));
  EXPECT_THAT(text, HasSubstr("isthmus_link_silence_seconds{run=\"job\",from=\"a\\\"b/0\","
                              "to=\"c/1\"} 42.5\n"));
}

TEST(MetricsText, HasWhatAGatewayOfBothClustersPasses) {
  const auto count = [](int node, int messages) {
    return nlohmann::json{{"node", node},         {"from", 1},   {"to", 0},
                          {"messages", messages}, {"bytes", 80}, {"wire_bytes", 90}};
  };
  const std::string text = metrics_text("job", world(), {}, {}, {count(1, 5), count(2, 2)});
  EXPECT_THAT(text, HasSubstr("# TYPE isthmus_crossing_messages_total counter\n"
                              "isthmus_crossing_messages_total{run=\"job\",from=\"c\","
                              "to=\"a\\\"b\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("isthmus_crossing_wire_bytes_total{run=\"job\",from=\"c\","
                              "to=\"a\\\"b\"} 180\n"));
}

class Served : public testing::Test {
 protected:
  Served() : thread_([this] { io_.run(); }) {}
  ~Served() override {
    work_.reset();
    io_.stop();
    thread_.join();
  }
  std::string ask(const std::string& request) {
    asio::io_context mine;
    asio::ip::tcp::socket socket(mine);
    const auto at = net::parse_address(server_.address());
    socket.connect({asio::ip::make_address(at.host), at.port});
    asio::write(socket, asio::buffer(request));
    std::string reply;
    std::error_code end;
    asio::read(socket, asio::dynamic_buffer(reply), end);
    return reply;
  }

  asio::io_context io_;
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

}  // namespace
}  // namespace isthmus::daemon
