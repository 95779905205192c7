#include "net/shm/lending.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "net/shm/shared_memory.hpp"

namespace isthmus::net::shm {
namespace {

TEST(LendingBody, SaysWhatItSaid) {
  const auto memory = core::PeerMemory::of_this_process(nullptr);
  const auto told = decode_lending(encode_lending({.memory = memory}));
  ASSERT_TRUE(told);
  EXPECT_FALSE(told->read);
  EXPECT_EQ(told->memory.mark_at, memory.mark_at);
  EXPECT_EQ(told->memory.mark[0], memory.mark[0]);
  EXPECT_EQ(told->memory.mark[1], memory.mark[1]);
  const auto read = decode_lending(encode_lending({.read = true}));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->read);
}

TEST(LendingBody, NamesNoProcess) {
  const auto told = decode_lending(encode_lending({.memory = {.pid = 1, .mark_at = 5}}));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->memory.pid, 0);
}

TEST(LendingBody, TakesNothingElse) {
  for (const std::string text :
       {"", "1", "[]", "null", R"({"lending":1})", R"({"lending":{}})",
        R"({"lending":{"read":false}})", R"({"lending":{"at":1}})",
        R"({"lending":{"at":-1,"mark":[1,2]}})", R"({"lending":{"at":1,"mark":[1]}})",
        R"({"lending":{"at":1,"mark":[1,"2"]}})", R"({"share":{"cluster":0,"millionths":5}})"}) {
    EXPECT_FALSE(decode_lending(std::as_bytes(std::span(text)))) << text;
  }
  const std::string deep = "{\"lending\":" + std::string(100'000, '[');
  EXPECT_FALSE(decode_lending(std::as_bytes(std::span(deep))));
}

// Both ends are this process: each may read its own memory where there is such a call.
class LendingExchange : public testing::Test {
 protected:
  void SetUp() override {
    if (!core::PeerMemory::reach(core::PeerMemory::of_this_process(nullptr))) {
      GTEST_SKIP() << "the system has no process_vm_readv";
    }
    one.met(getpid());
    other.met(getpid());
  }
  Lending one, other;
};

TEST_F(LendingExchange, EndsInMemoryThatIsReadAndMessagesThatAreLent) {
  const auto said = one.connected(true);
  ASSERT_FALSE(said.empty());
  const auto heard = other.take(said);
  EXPECT_FALSE(heard.may_lend);
  ASSERT_TRUE(heard.memory);
  std::byte here{5}, got{};
  ASSERT_TRUE(heard.memory->read(reinterpret_cast<std::int64_t>(&here), {&got, 1}));
  EXPECT_EQ(got, here);
  const auto answer = one.take(Lending::reads());
  EXPECT_TRUE(answer.may_lend);
  EXPECT_FALSE(answer.memory);
}

TEST_F(LendingExchange, WhoHasToldNothingMayNotLend) {
  EXPECT_FALSE(one.take(Lending::reads()).may_lend);
  EXPECT_TRUE(one.connected(false).empty());
  EXPECT_FALSE(one.take(Lending::reads()).may_lend);
}

TEST_F(LendingExchange, NothingIsReadOfAProcessThatIsNotKnown) {
  Lending stranger;
  EXPECT_TRUE(stranger.connected(true).empty());
  const auto heard = stranger.take(one.connected(true));
  EXPECT_FALSE(heard.memory);
  EXPECT_FALSE(stranger.take(Lending::reads()).may_lend);
}

TEST_F(LendingExchange, AMarkThatIsNotThereIsNoMemory) {
  auto memory = core::PeerMemory::of_this_process(nullptr);
  memory.mark[0] ^= 1;
  EXPECT_FALSE(other.take(encode_lending({.memory = memory})).memory);
}

TEST(ProcessBehind, IsTheOneThatConnected) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const Descriptor one(ends[0]), other(ends[1]);
  EXPECT_EQ(process_behind(one.number()), getpid());
  const Descriptor none(::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_EQ(process_behind(none.number()), 0);
}

}  // namespace
}  // namespace isthmus::net::shm
