#include "net/door/listener.hpp"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <optional>
#include <system_error>

#include "net/host/address.hpp"
#include "net/stream/stream_io.hpp"

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using testing::HasSubstr;

class Listening : public testing::Test, public ListenerUser {
 protected:
  std::unique_ptr<Listener> make(core::Admission::Limits strangers = {}) {
    ListenerConfig config;
    config.credentials = kCredentials;
    config.strangers = strangers;
    return std::make_unique<Listener>(io, std::move(config), *this);
  }
  void accepted(Listener::Newcomer) override { ++accepted_; }
  void rejected(const std::string&) override { ++rejected_; }
  void short_of_files(const std::string& sentence) override { shortages.push_back(sentence); }
  template <class Done>
  bool run_until(Done done) {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (!done() && std::chrono::steady_clock::now() < limit) io.run_one_for(10ms);
    return done();
  }
  static std::uint16_t port_of(const std::string& address) { return parse_address(address).port; }

  /// A connection that says nothing.
  tcp::socket stranger(const std::string& address) {
    tcp::socket socket(io, tcp::v4());
    socket.connect({asio::ip::make_address("127.0.0.1"), port_of(address)});
    return socket;
  }

  static inline const Credentials kCredentials{"job", "secret"};
  asio::io_context io;
  std::vector<std::string> shortages;
  int accepted_ = 0, rejected_ = 0;
};

std::vector<std::byte> hello() {
  core::Hello said;
  said.session = 1;
  said.window = core::kHeaderSize;
  const auto body = core::encode_hello(said);
  core::FrameHeader header;
  header.kind = core::FrameKind::Hello;
  header.body_size = static_cast<std::uint32_t>(body.size());
  std::vector<std::byte> bytes(core::kHeaderSize);
  core::encode_header(header, bytes.data());
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

int highest_descriptor() {
  int highest = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) throw std::system_error(errno, std::system_category(), "/proc/self/fd");
  while (const dirent* const entry = ::readdir(folder)) {
    highest = std::max(highest, std::atoi(entry->d_name));
  }
  ::closedir(folder);
  return highest;
}

// Both doors fail to accept for a while, at the same time; both open again.
TEST_F(Listening, AllDoorsOpenAgainWhenThereAreFilesAgain) {
  const auto listener = make();
  std::vector<tcp::socket> strangers;
  for (int i = 0; i < 2; ++i) {
    const auto port = port_of(listener->listen("tcp:127.0.0.1:0"));
    strangers.emplace_back(io, tcp::v4());
    strangers.back().connect({asio::ip::make_address("127.0.0.1"), port});
    asio::write(strangers.back(), asio::buffer(std::string(100, 'x')));
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(highest_descriptor()) + 1;
  // All descriptors below the highest are taken, too.
  std::vector<int> fill;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fill.push_back(fd);
  const bool told = run_until([&] { return !shortages.empty(); });
  for (int i = 0; i < 20; ++i) io.run_one_for(10ms);
  EXPECT_EQ(rejected_, 0);
  for (const int fd : fill) ::close(fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(told);
  EXPECT_EQ(shortages.size(), 1U);
  EXPECT_THAT(shortages[0], HasSubstr("raise the hard limit of open files"));
  EXPECT_TRUE(run_until([&] { return rejected_ == 2; })) << rejected_;
}

TEST_F(Listening, SilentConnectionsKeepNobodyOut) {
  constexpr std::size_t kPlaces = 8;
  const auto listener = make({.total = kPlaces, .of_network = kPlaces, .of_site = kPlaces});
  const std::string address = listener->listen("tcp:127.0.0.1:0");
  std::vector<tcp::socket> strangers;
  for (std::size_t i = 0; i < 50; ++i) strangers.push_back(stranger(address));
  ASSERT_TRUE(run_until([&] { return listener->turned_away().dropped == 50 - kPlaces; }));
  bool said_hello = false;
  asio::co_spawn(
      io,
      [&]() -> asio::awaitable<void> {
        Socket socket{stranger(address)};
        const auto stream = co_await authenticate_as_client(
            std::move(socket), kCredentials, Protection::Encrypted, address, kHandshakeLimit);
        co_await write_all(*stream, hello());
        said_hello = true;
      },
      asio::detached);
  EXPECT_TRUE(run_until([&] { return accepted_ == 1; }));
  EXPECT_TRUE(said_hello);
  EXPECT_EQ(listener->turned_away().dropped, 50 - kPlaces + 1);
}

TEST_F(Listening, EverywhereIsByBothKindsOfAddresses) {
  const auto listener = make();
  const Address address = parse_address(listener->listen("tcp:[::]:0"));
  ASSERT_EQ(address.host, listening_host("::"));
  for (const char* host : {"127.0.0.1", "::1"}) {
    const tcp::endpoint there(asio::ip::make_address(host), address.port);
    std::error_code error;
    tcp::socket socket(io);
    socket.connect(there, error);
    // The loopback may lack an address of the newer kind.
    EXPECT_TRUE(!error || (there.address().is_v6() && error.value() != ECONNREFUSED)) << host;
  }
}

TEST_F(Listening, OfARangeTheFirstFreePortIsTaken) {
  // A range whose first port is known to be free or ours.
  const auto first = make();
  std::optional<std::uint16_t> start;
  for (std::uint16_t port = 42'000; !start && port < 60'000; port += 10) {
    try {
      start = port_of(first->listen("tcp:127.0.0.1:" + std::to_string(port)));
    } catch (const ListenError&) {
      start.reset();  // the port is somebody else's
    }
  }
  ASSERT_TRUE(start);
  const std::string range =
      "tcp:127.0.0.1:" + std::to_string(*start) + "-" + std::to_string(*start + 5);
  const auto second = make();
  const auto found = port_of(second->listen(range));
  EXPECT_GT(found, *start);
  EXPECT_LE(found, *start + 5);
  const auto others = make();
  std::string failure, remedy;
  for (int i = 0; i < 6 && failure.empty(); ++i) {
    try {
      (void)others->listen(range);
    } catch (const ListenError& error) {
      failure = error.what();
      remedy = error.remedy();
    }
  }
  EXPECT_EQ(failure, "cannot listen on " + range + ": all ports of the range are in use");
  EXPECT_THAT(remedy, HasSubstr("widen the range"));
}

std::string remedy_of(Listener& listener, const std::string& address) {
  try {
    (void)listener.listen(address);
  } catch (const ListenError& error) {
    return error.remedy();
  }
  return "it listens";
}

TEST_F(Listening, EachFailureHasItsOwnRemedy) {
  const auto listener = make();
  EXPECT_THAT(remedy_of(*listener, "tcp:no-such-host.invalid:0"),
              HasSubstr("this host's own addresses"));
  EXPECT_THAT(remedy_of(*listener, "tcp:192.0.2.1:0"), HasSubstr("by 'listen'"));
  EXPECT_THAT(remedy_of(*listener, "unix:/nonexistent/x"), HasSubstr("XDG_RUNTIME_DIR"));
  const std::string taken = listener->listen("tcp:127.0.0.1:0");
  EXPECT_THAT(remedy_of(*listener, taken), HasSubstr("Name a free port"));
}

TEST(Address, MayHaveARangeOfPorts) {
  const Address address = parse_address("tcp:[::1]:7400-7419");
  EXPECT_EQ(address.port, 7400);
  EXPECT_EQ(address.last_port, 7419);
  EXPECT_EQ(to_string(address), "tcp:[::1]:7400-7419");
  for (const char* text : {"tcp:h:7-6", "tcp:h:0-9", "tcp:h:1-", "tcp:h:1-65536", "tcp:h:1-2-3"}) {
    EXPECT_THROW((void)parse_address(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace isthmus::net
