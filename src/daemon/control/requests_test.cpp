#include "daemon/control/requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json configure() {
  return json::parse(R"({"op":"configure","version":"1","job":"j","secret":"00ffA0","cluster":"c",
    "env":{"A":"1"},"mpi":null,"launch":"srun","wdir":"/w","extra":1,
    "gateways":[{"node":2147483648,"listen":["tcp:127.0.0.1:0"]}],"settings":{"bind":false}})");
}

json link() {
  return json::parse(R"({"op":"link",
    "world":{"clusters":[{"name":"a","size":1},{"name":"b","size":2}],
      "gateways":[{"node":2147483648,"clusters":[0],"addresses":["unix:/x"]},
                  {"node":2147483649,"clusters":[1],"addresses":[]}]},
    "links":[{"from":2147483648,"to":2147483649,"addresses":["tcp:h:1"],"encrypt":false,
              "rate":1e6,"rtt":null,"streams":null,
              "congestion":"bbr","compress":true}],
    "routes":[{"node":2147483648,"next":{"1":[2147483649]}}]})");
}

json spawn() {
  return json::parse(R"({"op":"spawn","parts":[{"n":2,"argv":["x"],"env":{"A":"b"}},
    {"n":1,"argv":["y","z"]}],"first":4,"size":3,"stdin":true,"tag_output":false})");
}

template <class F>
std::string failure(F&& read, const json& body) {
  try {
    read(body);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "none";
}

TEST(Requests, Configure) {
  const ConfigureRequest request = read_configure(configure());
  EXPECT_EQ(request.secret, std::string("\x00\xff\xa0", 3));
  EXPECT_EQ(request.mpi, "");
  EXPECT_EQ(request.launch, "srun");
  ASSERT_EQ(request.gateways.size(), 1U);
  EXPECT_EQ(request.gateways[0].node, core::kFirstGateway);
  EXPECT_EQ(request.settings["bind"], false);
}

TEST(Requests, Answer) {
  const json body = json::parse(R"({"op":"answer","rank":3,"number":7,"reply":{"port":"p"}})");
  const AnswerRequest request = read_answer(body);
  EXPECT_EQ(request.rank, 3U);
  EXPECT_EQ(request.number, 7U);
  EXPECT_EQ(request.reply, R"({"port":"p"})");
  json without = body;
  without.erase("reply");
  EXPECT_THAT(failure(read_answer, without), HasSubstr("answer.reply must be an object"));
}

TEST(Requests, KillMaySayWhatTheLauncherHas) {
  EXPECT_EQ(read_grace(json::parse(R"({"op":"kill"})")), std::nullopt);
  EXPECT_EQ(read_grace(json::parse(R"({"op":"kill","grace":0})")), std::chrono::milliseconds(0));
  EXPECT_EQ(read_grace(json::parse(R"({"op":"kill","grace":2.5})")),
            std::chrono::milliseconds(2500));
  EXPECT_THAT(failure(read_grace, json::parse(R"({"op":"kill","grace":-1})")),
              HasSubstr("kill.grace must be from 0 to 60"));
  EXPECT_THAT(failure(read_grace, json::parse(R"({"op":"kill","grace":"2"})")),
              HasSubstr("kill.grace"));
}

TEST(Requests, ATraceIsAskedForByNameAndOffset) {
  const TraceRequest request = read_trace(json::parse(R"({"name":"rank-3.trace","offset":64})"));
  EXPECT_EQ(request.name, "rank-3.trace");
  EXPECT_EQ(request.offset, 64U);
  EXPECT_THAT(failure(read_trace, json::parse(R"({"name":"rank-3.trace"})")),
              HasSubstr("trace.offset is missing"));
}

TEST(Requests, Link) {
  const LinkRequest request = read_link(link());
  EXPECT_EQ(request.world.size(), 3);
  ASSERT_EQ(request.links.size(), 1U);
  EXPECT_FALSE(request.links[0].encrypt);
  EXPECT_EQ(request.links[0].rate, 1e6);
  EXPECT_EQ(request.links[0].streams, 0);
  EXPECT_EQ(request.links[0].congestion, "bbr");
  EXPECT_TRUE(request.links[0].compress);
  EXPECT_EQ(request.routes.at(core::kFirstGateway).at(1), std::vector{core::kFirstGateway + 1});
}

TEST(Requests, LinkMayNameWhatIsLostWithTheLaunchersHost) {
  EXPECT_TRUE(read_link(link()).beside.clusters.empty());
  json body = link();
  body["beside"] = {{"clusters", {0}}, {"gateways", {core::kFirstGateway}}, {"least", 2}};
  const auto beside = read_link(body).beside;
  EXPECT_EQ(beside.clusters, std::set<std::size_t>{0});
  EXPECT_EQ(beside.gateways, std::set<core::NodeId>{core::kFirstGateway});
  EXPECT_EQ(beside.least, 2);
  body["beside"]["clusters"] = {99};
  EXPECT_THAT(failure(read_link, body), HasSubstr("link.beside.clusters has a number"));
  body["beside"] = {{"clusters", "a"}};
  EXPECT_THAT(failure(read_link, body), HasSubstr("link.beside.clusters"));
}

TEST(Requests, GatewaysMayBeLost) {
  EXPECT_EQ(read_lost(json::parse(R"({"op":"lost","gateways":[2147483649]})")),
            std::set<core::NodeId>{core::kFirstGateway + 1});
  EXPECT_THAT(failure(read_lost, json::parse(R"({"op":"lost"})")),
              HasSubstr("lost.gateways is missing"));
}

TEST(Requests, Spawn) {
  const SpawnRequest request = read_spawn(spawn());
  ASSERT_EQ(request.parts.size(), 2U);
  EXPECT_EQ(request.parts[0].env.at("A"), "b");
  EXPECT_EQ(request.parts[1].argv, (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(request.first, 4);
  EXPECT_TRUE(request.has_stdin);
}

TEST(Requests, WrongKeysAreNamed) {
  const auto with = [](json body, const char* pointer, const json& value) {
    body[json::json_pointer(pointer)] = value;
    return body;
  };
  const struct {
    std::string said;
    const char* expected;
  } cases[] = {
      {failure(read_configure, with(configure(), "/secret", "xy")), "configure.secret"},
      {failure(read_configure, with(configure(), "/secret", "abc")), "configure.secret"},
      {failure(read_configure, with(configure(), "/job", nullptr)), "configure.job is missing"},
      {failure(read_configure, with(configure(), "/env", {{"A=B", "1"}})), "configure.env"},
      {failure(read_configure, with(configure(), "/env", {{"A", 1}})), "configure.env"},
      {failure(read_configure, with(configure(), "/hosts", "n1")), "configure.hosts"},
      {failure(read_configure, with(configure(), "/hosts", {"n1", "-x"})), "configure.hosts"},
      {failure(read_configure, with(configure(), "/hosts", {"n1,n2"})), "configure.hosts"},
      {failure(read_configure, with(configure(), "/gateways/0/node", 3)),
       "configure.gateways[0].node"},
      {failure(read_configure, with(configure(), "/gateways/0/node", -1)),
       "configure.gateways[0].node"},
      {failure(read_configure, with(configure(), "/gateways", "x")), "configure.gateways"},
      {failure(read_configure, with(configure(), "/settings", 3)), "configure.settings"},
      {failure(read_inspect, {{"op", "inspect"}, {"argv", json::array()}}), "inspect.argv"},
      {failure(read_inspect, {{"op", "inspect"}, {"argv", "x"}}), "inspect.argv"},
      {failure(read_link, with(link(), "/world/clusters/0/size", "x")), "link.world"},
      {failure(read_link, with(link(), "/links/0/from", 1)), "link.links[0].from"},
      {failure(read_link, with(link(), "/links/0/addresses", 1)), "link.links[0].addresses"},
      {failure(read_link, with(link(), "/links/0/rate", -5)), "link.links[0].rate"},
      {failure(read_link, with(link(), "/links/0/streams", 100000)), "link.links[0].streams"},
      {failure(read_link, with(link(), "/routes/0/next", {{"7", {2147483649U}}})),
       "link.routes[0].next"},
      {failure(read_link, with(link(), "/routes/0/next", {{"x", {2147483649U}}})),
       "link.routes[0].next"},
      {failure(read_extend, {{"op", "extend"}, {"gateways", {{{"node", 3}, {"name", "x"}}}}}),
       "extend.gateways[0].node"},
      {failure(read_extend, {{"op", "extend"}, {"gone", "x"}}), "extend.gone"},
      {failure(read_grow, {{"op", "grow"}}), "grow.growth is missing"},
      {failure(read_spawn, with(spawn(), "/size", 4)), "spawn.size"},
      {failure(read_failed, {{"op", "failed"}, {"cluster", -1}, {"message", ""}}),
       "failed.cluster"},
      {failure(read_failed, {{"op", "failed"}, {"cluster", 1}}), "failed.message is missing"},
      {failure(read_spare, {{"op", "spare"}, {"cluster", "c"}, {"state", "gone"}}), "spare.state"},
      {failure(read_spare, {{"op", "spare"}, {"number", -1}, {"state", "left"}}), "spare.number"},
      {failure(read_spawn, with(spawn(), "/parts/0/n", 0)), "spawn.parts[0].n"},
      {failure(read_spawn, with(spawn(), "/parts/0/n", 1e30)), "spawn.parts[0].n"},
      {failure(read_spawn, with(spawn(), "/parts/1/argv", json::array())), "spawn.parts[1].argv"},
      {failure(read_spawn, with(spawn(), "/first", -1)), "spawn.first"},
      {failure(read_spawn, with(spawn(), "/parts", json::array())), "spawn.parts"},
  };
  for (const auto& one : cases) EXPECT_THAT(one.said, HasSubstr(one.expected));
}

}  // namespace
}  // namespace isthmus::daemon
