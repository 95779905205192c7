#include "daemon/agent/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "daemon/service/service_metrics.hpp"

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
  const std::string text = metrics_text(
      "job", world(),
      {.links = {count}, .joined = {{"a\"b", 3}}, .spares = {{"south", true}, {"north", false}}});
  EXPECT_THAT(text, HasSubstr("isthmus_ranks_joined{run=\"job\",cluster=\"a\\\"b\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("isthmus_ranks{run=\"job\",cluster=\"a\\\"b\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("isthmus_spare_joined{run=\"job\",cluster=\"south\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("isthmus_spare_joined{run=\"job\",cluster=\"north\"} 0\n"));
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

/// A line of a page's table, or a family of a text: type, labels, and meaning.
using Family = std::tuple<std::string, std::set<std::string>, std::string>;
using Families = std::map<std::string, Family>;

// Checks the text as it goes: what Prometheus reads has these rules.
Families families_of(const std::string& text) {
  Families found;
  std::set<std::string> series;
  std::string name;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    static const std::regex help("# HELP (\\w+) (.+)"), type("# TYPE (\\w+) (counter|gauge)"),
        sample("(\\w+)(?:\\{(.*)\\})? ([-+0-9.e]+)"), label("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\",?");
    std::smatch part;
    if (std::regex_match(line, part, help)) {
      name = part[1];
      EXPECT_FALSE(found.contains(name)) << line;
      std::get<2>(found[name]) = part[2];
    } else if (std::regex_match(line, part, type)) {
      EXPECT_EQ(part[1], name);
      EXPECT_EQ(part[2] == "counter", name.ends_with("_total")) << line;
      std::get<0>(found[name]) = part[2];
    } else if (std::regex_match(line, part, sample)) {
      EXPECT_EQ(part[1], name) << "a sample outside of its family";
      const std::string labels = part[2], is = std::string(part[1]) + "{" + labels + "}";
      EXPECT_TRUE(series.insert(is).second) << "twice: " << line;
      for (std::sregex_iterator at(labels.begin(), labels.end(), label), end; at != end; ++at) {
        std::get<1>(found[name]).insert((*at)[1]);
      }
    } else {
      ADD_FAILURE() << "no line of the format: " << line;
    }
  }
  for (const auto& [metric, family] : found) {
    EXPECT_FALSE(std::get<1>(family).contains("job") || std::get<1>(family).contains("instance"))
        << metric << " has a label that Prometheus sets";
  }
  return found;
}

Families families_of_page() {
  std::ifstream page(ISTHMUS_DOCS "/metrics.md");
  Families found;
  for (std::string line; std::getline(page, line);) {
    static const std::regex row(R"(\| `(isthmus_\w+)` \| (\w+) \| ([^|]*) \| ([^|]*) \| (.+) \|)");
    std::smatch part;
    if (!std::regex_match(line, part, row)) continue;
    Family& family = found[part[1]];
    std::get<0>(family) = part[2];
    std::get<2>(family) = part[5];
    static const std::regex word("`(\\w+)`");
    const std::string labels = part[4];
    for (std::sregex_iterator at(labels.begin(), labels.end(), word), end; at != end; ++at) {
      std::get<1>(family).insert((*at)[1]);
    }
    const std::string name = part[1], unit = part[3];
    for (const char* each : {"bytes", "seconds"}) {
      EXPECT_EQ(name.find(each) != std::string::npos, unit.find(each) != std::string::npos) << line;
    }
  }
  return found;
}

// docs/metrics.md lists each metric as the code has it, and no other.
TEST(MetricsText, IsWhatThePageSays) {
  const nlohmann::json count{
      {"from", 0}, {"to", 1}, {"messages", 5}, {"bytes", 80}, {"wire_bytes", 90}};
  LinkCount link;
  link.from = core::kFirstGateway;
  link.to = core::kFirstGateway + 2;
  Families code = families_of(metrics_text("job", world(),
                                           {.links = {link},
                                            .joined = {{"c", 1}},
                                            .spares = {{"d", true}},
                                            .direct = {count},
                                            .crossings = {count},
                                            .doors = {{"metrics", {}}}}));
  UserCounts user;
  user.keys["a-1"] = {};
  Families service = families_of(service_metrics({{"a", user}}, {}, 0, {{"service", {}}}));
  for (auto& [name, family] : service) {
    if (code.contains(name)) std::get<1>(family).insert("run");  // of an agent's doors alone
    code[name] = family;
  }
  const Families page = families_of_page();
  for (const auto& [name, family] : code) {
    ASSERT_TRUE(page.contains(name)) << name << " is not on the page";
    EXPECT_EQ(page.at(name), family) << name;
  }
  EXPECT_EQ(page.size(), code.size());
}

}  // namespace
}  // namespace isthmus::daemon
