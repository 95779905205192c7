#include "daemon/agent/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace isthmus::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  const std::string text =
      metrics_text("job", world(), {.links = {count}, .joined = {{"a\"b", 3}}});
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
  const std::string text = metrics_text("job", world(), {.crossings = {count(1, 5), count(2, 2)}});
  EXPECT_THAT(text, HasSubstr("# TYPE isthmus_crossing_messages_total counter\n"
                              "isthmus_crossing_messages_total{run=\"job\",from=\"c\","
                              "to=\"a\\\"b\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("isthmus_crossing_wire_bytes_total{run=\"job\",from=\"c\","
                              "to=\"a\\\"b\"} 180\n"));
}

TEST(MetricsText, HasWhatRanksSendWithoutGateways) {
  core::World both = world();
  both.clusters.push_back({"d", 2, 1});
  core::Direct memory;
  memory.a = 1;
  memory.b = 0;
  memory.shm = true;
  both.direct = {memory};
  const auto count = [](int from, int to) {
    return nlohmann::json{
        {"from", from}, {"to", to}, {"messages", 5}, {"bytes", 80}, {"wire_bytes", 90}};
  };
  const std::string text =
      metrics_text("job", both, {.direct = {count(0, 1), count(0, 1), count(2, 1)}});
  EXPECT_THAT(text, HasSubstr("isthmus_direct_payload_bytes_total{run=\"job\",from=\"a\\\"b\","
                              "to=\"c\",way=\"memory\"} 160\n"));
  EXPECT_THAT(text, HasSubstr("isthmus_direct_messages_total{run=\"job\",from=\"d\",to=\"c\","
                              "way=\"network\"} 5\n"));
}

}  // namespace
}  // namespace isthmus::daemon
