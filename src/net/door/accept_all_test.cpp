#include "net/door/accept_all.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <vector>

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

class AcceptAll : public testing::Test {
 protected:
  AcceptAll() {
    asio::co_spawn(io,
                   accept_all(
                       door, [this](tcp::socket) { ++welcomed; },
                       [this](const std::string& sentence) { shortages.push_back(sentence); }),
                   [this](const std::exception_ptr&) { over = true; });
  }
  template <class Done>
  bool run_until(Done done) {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (!done() && std::chrono::steady_clock::now() < limit) io.run_one_for(10ms);
    return done();
  }

  asio::io_context io;
  std::shared_ptr<tcp::acceptor> door =
      std::make_shared<tcp::acceptor>(io, tcp::endpoint(tcp::v4(), 0));
  std::vector<std::string> shortages;
  int welcomed = 0;
  bool over = false;
};

TEST_F(AcceptAll, EndsWhenTheDoorIsClosed) {
  tcp::socket one(io), other(io);
  one.connect(door->local_endpoint());
  other.connect(door->local_endpoint());
  EXPECT_TRUE(run_until([&] { return welcomed == 2; }));
  door->close();
  EXPECT_TRUE(run_until([&] { return over; }));
  EXPECT_TRUE(shortages.empty());
}

// The limit below every descriptor that is open: none can be opened.
TEST_F(AcceptAll, WaitsForFilesAndSaysSoOnce) {
  tcp::socket guest(io);
  guest.connect(door->local_endpoint());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;
  std::vector<int> fill;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fill.push_back(fd);
  std::size_t rounds = 0;
  const bool told = run_until([&] { return !shortages.empty(); });
  const auto until = std::chrono::steady_clock::now() + 3 * kAcceptAgain;
  while (std::chrono::steady_clock::now() < until) rounds += io.run_one_for(10ms);
  for (const int fd : fill) ::close(fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(told);
  EXPECT_EQ(shortages.size(), 1U);
  EXPECT_NE(shortages[0].find("raise the hard limit of open files"), std::string::npos);
  EXPECT_LT(rounds, 100U) << "it waits between two tries";
  EXPECT_TRUE(run_until([&] { return welcomed == 1; }));
}

}  // namespace
}  // namespace isthmus::net
