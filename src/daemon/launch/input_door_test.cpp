#include "daemon/launch/input_door.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <asio/post.hpp>
#include <thread>

#include "daemon/host/failure.hpp"
#include "daemon/launch/input_feed.hpp"

namespace isthmus::daemon {
namespace {

std::string all_of(const FileDescriptor& from) {
  std::string got;
  std::array<char, 4096> block{};
  for (ssize_t n = 0; (n = read(from.get(), block.data(), block.size())) > 0;) {
    got.append(block.data(), static_cast<std::size_t>(n));
  }
  return got;
}

TEST(InputAddress, IsTextAndBack) {
  const InputAddress address{{"tcp:10.0.0.1:7", "tcp:host:7"}, {"", std::string(32, '\xAB')}};
  const auto parsed = InputAddress::parse(address.text());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->addresses, address.addresses);
  EXPECT_EQ(parsed->credentials.secret, address.credentials.secret);
  EXPECT_FALSE(InputAddress::parse("12345:/proc/1/fd/3"));
  EXPECT_FALSE(InputAddress::parse("net;no digits;tcp:host:7"));
}

TEST(InputDoor, BringsAllBytesAndTheEnd) {
  asio::io_context io;
  InputDoor door(io);
  std::string sent;
  for (int i = 0; i < 300'000; ++i) sent += std::to_string(i);
  door.write(sent.substr(0, 1000));  // before anybody has come
  const InputAddress address = door.address();
  std::string got;
  std::thread rank([&] { got = all_of(fetch_input(address, getpid())); });
  bool rest = false;
  door.on_written = [&] {
    if (std::exchange(rest, true)) return;
    door.write(sent.substr(1000));
    door.close();
  };
  io.run();
  rank.join();
  EXPECT_EQ(got.size(), sent.size());
  EXPECT_TRUE(got == sent);
  EXPECT_EQ(door.unwritten(), 0U);
}

TEST(InputDoor, LetsInOnlyWhoKnowsTheSecret) {
  asio::io_context io;
  InputDoor door(io);
  InputAddress address = door.address();
  address.credentials.secret.front() ^= 1;
  std::string sentence;
  std::thread rank([&] {
    try {
      fetch_input(address, getpid());
    } catch (const Failure& failure) {
      sentence = failure.what();
    }
    asio::post(io, [&io] { io.stop(); });
  });
  io.run();
  rank.join();
  EXPECT_NE(sentence.find("does not know the secret"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace isthmus::daemon
