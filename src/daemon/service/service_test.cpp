// A service reads its file and its keys, and keeps to a rate.
#include "net/door/service.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <filesystem>
#include <fstream>

#include "daemon/host/failure.hpp"
#include "daemon/service/audit.hpp"
#include "daemon/service/config.hpp"
#include "daemon/service/keys.hpp"
#include "daemon/service/service_metrics.hpp"
#include "daemon/service/token_bucket.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

class ServiceFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = "/tmp/isthmus-service-test-XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  ServiceConfig config(const std::string& text) const {
    const fs::path file = folder_ / "service.toml";
    std::ofstream(file) << text;
    return read_service_config(file.string());
  }

  fs::path folder_;
};

TEST_F(ServiceFiles, AConfigurationIsRead) {
  const ServiceConfig read = config(
      "# a service\nlisten = [\"0.0.0.0:1\", \"[::1]:2\"]\nkeys = \"/k\"\n"
      "allow = [\"192.0.2.0/24\", \"2001:db8::/32\", \"198.51.100.7\"]\n"
      "rate = \"1 Gbit/s\"\nmemory = \"1 GiB\"\nconnections = 4096\njobs = 3\n");
  EXPECT_EQ(read.listen, (std::vector<std::string>{"tcp:0.0.0.0:1", "tcp:[::1]:2"}));
  EXPECT_EQ(read.limits.rate, 125'000'000U);
  EXPECT_EQ(read.limits.memory, std::uint64_t{1} << 30);
  EXPECT_EQ(read.limits.buffer(), std::size_t{1} << 18);
  EXPECT_TRUE(read.allows("192.0.2.200") && read.allows("2001:db8:1::1"));
  EXPECT_TRUE(read.allows("198.51.100.7"));
  EXPECT_FALSE(read.allows("198.51.100.8") || read.allows("2001:db9::1") || read.allows("x"));
  EXPECT_TRUE(config("keys = \"/k\"\n").allows("203.0.113.1"));
}

TEST_F(ServiceFiles, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(config("\xEF\xBB\xBFkeys = \"/k\"\njobs = 3\n").limits.jobs, 3);
  EXPECT_THROW(config("keys = \"/k\"\n\xEF\xBB\xBFjobs = 3\n"), Failure);
}

TEST_F(ServiceFiles, WhatIsWrongIsTold) {
  for (const char* text :
       {"", "keys = \"k\"\nspeed = 1\n", "keys = \"k\"\nrate = \"1 Gbit\"\n",
        "keys = \"k\"\nrate = \"-1 MB/s\"\n", "keys = \"k\"\nmemory = \"1e300 GiB\"\n",
        "keys = \"k\"\nlisten = \"host\"\n", "keys = \"k\"\nlisten = \"unix:/x\"\n",
        "keys = \"k\"\nallow = \"1.2.3\"\n", "keys = \"k\"\njobs = 0\n",
        "keys = \"k\"\njobs = x\n"}) {
    EXPECT_THROW(config(text), Failure) << text;
  }
  EXPECT_THROW(read_service_config((folder_ / "none").string()), Failure);
}

TEST_F(ServiceFiles, KeysAreMadeAndRevoked) {
  const KeyFolder keys(folder_ / "keys");
  EXPECT_TRUE(keys.read().keys.empty());
  const ServiceKey alice = keys.add("alice");
  const ServiceKey other = keys.add("alice");
  EXPECT_NE(alice.id, other.id);
  EXPECT_NE(alice.secret, other.secret);
  EXPECT_EQ(keys.revoke(alice.id), std::vector<std::string>{alice.id});
  EXPECT_EQ(keys.revoke("alice"), std::vector<std::string>{other.id});
  EXPECT_THROW(keys.revoke("alice"), Failure);
  EXPECT_THROW(keys.revoke("bob"), Failure);
  const auto all = keys.read().keys;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(all[0].revoked.empty());
  EXPECT_EQ(all[0].secret.size(), 32U);
  for (const char* name : {"", "../x", "a/b", ".hidden", "-x", "a b"}) {
    EXPECT_THROW(keys.add(name), Failure) << name;
  }
  ::chmod((folder_ / "keys" / (alice.id + ".json")).c_str(), 0640);
  const ServiceKey third = keys.add("carol");
  ::chmod((folder_ / "keys" / (third.id + ".json")).c_str(), 0640);
  std::ofstream(folder_ / "keys" / "none.json") << "[1";
  const KeysRead some = keys.read();
  ASSERT_EQ(some.keys.size(), 1U);
  EXPECT_EQ(some.keys[0].id, other.id);
  ASSERT_EQ(some.wrong.size(), 3U);
  for (const std::string& name : {alice.id, third.id, std::string("none")}) {
    EXPECT_TRUE(std::any_of(some.wrong.begin(), some.wrong.end(), [&name](const auto& why) {
      return why.find(name + ".json") != std::string::npos;
    })) << name;
  }
  EXPECT_EQ(keys.revoke("carol"), std::vector<std::string>{third.id});
}

TEST_F(ServiceFiles, KeysHaveLimits) {
  const KeyFolder keys(folder_ / "keys");
  const KeyLimits some{.connections = 8, .rate = 12'500'000, .memory = 1 << 20};
  const ServiceKey alice = keys.add("alice", some);
  EXPECT_EQ(keys.read().keys.at(0).limits, some);
  EXPECT_EQ(keys.limit(alice.id, {.rate = 1000}), std::vector<std::string>{alice.id});
  EXPECT_EQ(keys.read().keys.at(0).limits, (KeyLimits{.rate = 1000}));
  EXPECT_THROW(keys.limit("bob", {}), Failure);
  keys.revoke(alice.id);
  EXPECT_THROW(keys.limit(alice.id, {}), Failure);
  EXPECT_EQ(keys.read().keys.at(0).limits.rate, 1000U);

  const fs::path odd = folder_ / "keys" / "odd-1.json";
  for (const char* limits : {R"({"rate": "fast"})", R"({"connections": -1})", R"({"memory": 3})"}) {
    std::ofstream(odd) << R"({"user": "odd", "secret": ")" << std::string(64, 'a')
                       << R"(", "limits": )" << limits << "}";
    ::chmod(odd.c_str(), 0600);
    const KeysRead all = keys.read();
    ASSERT_EQ(all.wrong.size(), 1U) << limits;
    EXPECT_NE(all.wrong[0].find("odd-1.json"), std::string::npos);
  }
}

TEST_F(ServiceFiles, StrangersGetFewLinesOfTheAuditLog) {
  const fs::path file = folder_ / "audit.log";
  AuditLog audit(file.string());
  for (int i = 0; i < 1000; ++i) {
    audit.refused_stranger({{"event", "refused"}, {"why", std::string(4000, 'x')}});
  }
  EXPECT_LE(fs::file_size(file), 500U);
  audit.tick();  // too early
  EXPECT_LE(fs::file_size(file), 500U);
  audit.write({{"event", "refused"}, {"user", "alice"}});
  audit.tick(true);
  std::vector<nlohmann::json> lines;
  std::ifstream log(file);
  for (std::string line; std::getline(log, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_FALSE(lines[0].contains("count"));
  EXPECT_EQ(lines[1].at("user"), "alice");
  EXPECT_EQ(lines[2].at("count"), 999);
}

TEST(KeyLimits, BuffersKeepWithinBoth) {
  const UserLimits user{.connections = 100, .memory = 100 * 65536};
  EXPECT_EQ(KeyLimits{}.buffer(user), 65536U);
  EXPECT_EQ((KeyLimits{.memory = 100 * 8192}).buffer(user), 8192U);
  EXPECT_EQ((KeyLimits{.connections = 10, .memory = 100 * 8192}).buffer(user), 65536U);
  EXPECT_EQ((KeyLimits{.connections = 1000, .memory = 1 << 30}).buffer(user), 65536U);
}

TEST(TokenBucket, KeepsToARateAndServesAll) {
  asio::io_context io;
  TokenBucket bucket(io);
  bucket.set_rate(4'000'000);
  std::array<std::size_t, 3> got{};
  for (std::size_t& mine : got) {
    asio::co_spawn(
        io,
        [&bucket, &mine]() -> asio::awaitable<void> {
          while (mine < 400'000) mine += co_await bucket.take(1 << 20);
        },
        asio::detached);
  }
  const auto begin = std::chrono::steady_clock::now();
  io.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  // 1.2 MB, and a burst of 0.2 MB at the beginning.
  EXPECT_GT(took.count(), 0.2);
  EXPECT_GT(bucket.waited().count(), 0.2);
  bucket.set_rate(0);
  EXPECT_GE(got[0], 400'000U);
}

TEST(ServiceRequest, IsReadAsItWasWritten) {
  using Verb = net::ServiceRequest::Verb;
  const net::ServiceRequest request{Verb::Take, 0x80000007, 0x0123456789abcdef};
  auto bytes = net::encode(request);
  const auto read = net::decode_service_request(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->verb, Verb::Take);
  EXPECT_EQ(read->node, request.node);
  EXPECT_EQ(read->number, request.number);
  for (const std::size_t at : {0, 1, 2, 3}) {
    auto wrong = bytes;
    wrong[at] = 9;
    EXPECT_FALSE(net::decode_service_request(wrong)) << at;
  }
}

TEST(ServiceMetrics, SumsWhatIsGone) {
  UserCounts now{2, 5, 100, 1, 0.5, {{"a-1", {4, 30, 1, 0.5}}}};
  UserCounts past{7, 7, 11, 2, 0.25, {{"a-1", {9, 3, 0, 0}}}};
  const std::string text =
      service_metrics({{"a", now}}, {{"a", past}, {"b", past}}, 9, {{"service", {3, 4}}});
  EXPECT_NE(text.find("isthmus_service_bytes_total{user=\"a\"} 111\n"), std::string::npos) << text;
  EXPECT_NE(text.find("isthmus_service_jobs{user=\"a\"} 2\n"), std::string::npos);
  for (const char* line : {"key_connections{user=\"a\",key=\"a-1\"} 4\n",
                           "key_bytes_total{user=\"a\",key=\"a-1\"} 33\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_NE(text.find("isthmus_service_strangers_total 9\n"), std::string::npos);
  EXPECT_NE(text.find("isthmus_door_refused_total{door=\"service\"} 3\n"), std::string::npos);
  EXPECT_NE(text.find("isthmus_door_dropped_total{door=\"service\"} 4\n"), std::string::npos);
}

}  // namespace
}  // namespace isthmus::daemon
