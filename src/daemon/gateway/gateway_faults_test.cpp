// Each failure of the network ends in a message everywhere, and nobody hangs.
#include <sys/wait.h>

#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>
#include <random>

#include "daemon/gateway/gateway_testbed.hpp"
#include "net/host/address.hpp"

namespace isthmus::daemon {
namespace {

using asio::ip::tcp;
using testing::HasSubstr;

tcp::endpoint endpoint_of(const std::string& address) {
  return {asio::ip::make_address("127.0.0.1"), net::parse_address(address).port};
}

TEST(Fault, AbortReachesAllWithItsCode) {
  Testbed bed({.sizes = {2, 1, 1}});
  bed.start();
  bed.rank(1).abort(7, "no more");
  for (const int r : {0, 2, 3}) {
    EXPECT_EQ(bed.fault(r), "rank 1 called MPI_Abort with code 7: no more [7]");
  }
  for (const std::size_t g : {0, 1, 2}) EXPECT_EQ(bed.gateway_fault(g), "abort 1 7 no more");
}

TEST(Fault, ARankThatVanishesIsNamedEverywhere) {
  Testbed bed({.sizes = {1, 2}});
  bed.start();
  bed.kill(2);
  const char* sentence = "rank 2 (cluster \"c1\") ended without MPI_Finalize or was killed";
  for (const int r : {0, 1}) EXPECT_THAT(bed.fault(r), HasSubstr(sentence));
  for (const std::size_t g : {0, 1}) EXPECT_THAT(bed.gateway_fault(g), HasSubstr(sentence));
}

TEST(Fault, AGatewayThatVanishesIsNamedEverywhere) {
  Testbed bed({.sizes = {1, 1, 1}, .patience = 500ms});
  bed.start();
  bed.destroy_gateway(1);
  EXPECT_THAT(bed.fault(1), HasSubstr("rank 1 has lost the gateway of cluster \"c1\" (unix:"));
  EXPECT_THAT(bed.fault(0), HasSubstr("the link from the gateway of cluster \"c0\" to the gateway "
                                      "of cluster \"c1\" (tcp:127.0.0.1:"));
  EXPECT_THAT(bed.fault(2), HasSubstr("the link from the gateway of cluster \"c2\" to the gateway "
                                      "of cluster \"c1\" (tcp:127.0.0.1:"));
  EXPECT_THAT(bed.fault(2), HasSubstr("500 ms (patience)"));
}

TEST(Fault, TheAgentMaySayThatTheJobIsOver) {
  Testbed bed({.sizes = {1, 1}});
  bed.start();
  bed.on_io([&] { bed.gateway(0).fault("mpirun has died", 9); });
  EXPECT_EQ(bed.fault(0), "mpirun has died [9]");
  EXPECT_EQ(bed.fault(1), "mpirun has died [9]");
  EXPECT_EQ(bed.gateway_fault(1), "mpirun has died");
}

TEST(Fault, AGatewayThatClosesTooEarly) {
  Testbed bed({.sizes = {1, 1}});
  bed.start();
  bed.on_io([&] { bed.gateway(0).close(nullptr); });
  EXPECT_THAT(bed.fault(0), HasSubstr("closed while the program was running"));
  EXPECT_THAT(bed.fault(1),
              HasSubstr("cluster \"c0\" has closed while the program was still running"));
}

TEST(Fault, RanksWaitForALateOneUntilItsGatewayGivesUp) {
  Testbed bed({.sizes = {2, 1}});
  ASSERT_EQ(bed.link(), "");
  auto join = std::async(std::launch::async, [&] { return failure_of_join(bed.config(1)); });
  while (bed.on_io([&] { return bed.gateway(0).attendance()[0].joined; }) != 1) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(bed.on_io([&] { return bed.gateway(0).joined(); }));
  bed.on_io([&] { bed.gateway(0).fault("the launcher has ended", 1); });
  EXPECT_EQ(join.get(), "the launcher has ended");
}

TEST(Fault, AnAbortBeforeAllHaveJoined) {
  Testbed bed({.sizes = {1, 1}});
  ASSERT_EQ(bed.link(), "");
  auto join = std::async(std::launch::async, [&] { return failure_of_join(bed.config(0)); });
  while (!bed.on_io([&] { return bed.gateway(0).joined(); })) std::this_thread::sleep_for(1ms);
  bed.on_io([&] { bed.gateway(1).fault("the other one failed", 1); });
  EXPECT_EQ(join.get(), "the other one failed");
}

class Secrets : public testing::TestWithParam<bool> {};

TEST_P(Secrets, ARankWithoutTheSecret) {
  Testbed bed({.sizes = {1, 1}, .ranks_by_tcp = GetParam()});
  ASSERT_EQ(bed.link(), "");
  auto config = bed.config(0);
  config.secret = "guess";
  EXPECT_THAT(failure_of_join(config), HasSubstr("does not know the secret of job \"job\""));
  EXPECT_THAT(bed.rejected(0).get(), HasSubstr("does not know the secret of job \"job\""));
}

TEST_P(Secrets, ALinkBetweenGatewaysOfDifferentSecrets) {
  Testbed bed({.sizes = {1, 1}, .encrypt = GetParam(), .wrong_secret = 1});
  const std::string error = bed.link();
  EXPECT_THAT(error, HasSubstr("the link from the gateway of cluster \"c0\" to the gateway of "
                               "cluster \"c1\" (tcp:127.0.0.1:"));
  EXPECT_THAT(error, HasSubstr("does not know the secret of job \"job\""));
  EXPECT_THAT(bed.rejected(1).get(), HasSubstr("does not know the secret of job \"job\""));
}

INSTANTIATE_TEST_SUITE_P(BothWays, Secrets, testing::Bool());

TEST(Fault, ARankOfAnotherJob) {
  Testbed bed({.sizes = {1, 1}});
  ASSERT_EQ(bed.link(), "");
  auto config = bed.config(0);
  config.job = "other";
  EXPECT_THAT(failure_of_join(config), HasSubstr("serves another job than \"other\""));
}

TEST(Fault, ARankOfAnotherCluster) {
  Testbed bed({.sizes = {1, 1}});
  ASSERT_EQ(bed.link(), "");
  auto config = bed.config(0);
  config.node = 1;
  config.world.gateways[1].addresses = config.world.gateways[0].addresses;
  config.world.gateways[1].node = config.world.gateways[0].node;
  EXPECT_THAT(failure_of_join(config), HasSubstr("rank 1 is not of cluster \"c0\""));
}

TEST(Fault, ARankThatJoinsTwice) {
  Testbed bed({.sizes = {1, 1}});
  bed.start();
  EXPECT_THAT(failure_of_join(bed.config(0)), HasSubstr("rank 0 has joined already"));
  bed.exchange(0, 1, 100);
  bed.leave_all();
}

TEST(Fault, NoGatewayThere) {
  Testbed bed({.sizes = {1, 1}, .connect_timeout = 300ms});
  asio::ip::tcp::acceptor unused(bed.io(), endpoint_of("tcp:127.0.0.1:0"));
  const std::string address = "tcp:127.0.0.1:" + std::to_string(unused.local_endpoint().port());
  unused.close();
  bed.link_to(address);
  const std::string error = bed.link();
  EXPECT_THAT(error, HasSubstr("(" + address + ") could not be opened within 300 ms"));
  EXPECT_THAT(error, HasSubstr("is the gateway running, and is the port right?"));

  auto config = bed.config(0);
  config.world.gateways[0].addresses = {"unix:/nonexistent/socket"};
  EXPECT_THAT(failure_of_join(config), HasSubstr("cannot connect to unix:/nonexistent/socket"));
}

TEST(Fault, AnAddressThatIsNone) {
  Testbed bed({.sizes = {1, 1}});
  bed.link_to("udp:somewhere");
  EXPECT_THAT(bed.link(), HasSubstr("the address \"udp:somewhere\" names no known transport"));
}

// A server that accepts and says nothing, as a firewall or a foreign service may.
TEST(Fault, AServerThatSaysNothing) {
  Testbed bed({.sizes = {1, 1}, .connect_timeout = 300ms});
  asio::ip::tcp::acceptor mute(bed.io(), endpoint_of("tcp:127.0.0.1:0"));
  bed.link_to("tcp:127.0.0.1:" + std::to_string(mute.local_endpoint().port()));
  EXPECT_THAT(bed.link(), HasSubstr("could not be opened within 300 ms: "));
}

// A full queue of a listener drops what else arrives, as firewalls do.
TEST(Fault, APortWhoseFirewallDropsEverything) {
  Testbed bed({.sizes = {1, 1}, .connect_timeout = 3s});
  asio::io_context io;
  tcp::acceptor wall(io);
  wall.open(tcp::v4());
  wall.bind(endpoint_of("tcp:127.0.0.1:0"));
  wall.listen(0);
  std::vector<tcp::socket> queue;
  for (int i = 0; i < 3; ++i) {
    queue.emplace_back(io, tcp::v4());
    queue.back().native_non_blocking(true);
    const tcp::endpoint at = wall.local_endpoint();
    (void)::connect(queue.back().native_handle(), at.data(), static_cast<socklen_t>(at.size()));
  }
  const std::string address = "tcp:127.0.0.1:" + std::to_string(wall.local_endpoint().port());
  bed.link_to(address);
  const std::string error = bed.link();
  EXPECT_THAT(error, HasSubstr("(" + address + ") could not be opened within 3 s: cannot connect"));
  EXPECT_THAT(error, HasSubstr("does a firewall drop what is sent to this port?"));
}

TEST(Fault, GarbageAndSilenceAtThePortsHurtNobody) {
  Testbed bed({.sizes = {1, 1}, .ranks_by_tcp = true, .handshake_timeout = 2s});
  asio::io_context io;
  std::vector<tcp::socket> sockets;
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    tcp::socket socket(io);
    socket.connect(endpoint_of(bed.addresses(0)[0]));
    std::string bytes(random() % 200, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    if (i % 4 == 1) bytes = "ISTHMUS\n\1\xFF" + bytes;
    if (i % 4 == 2) bytes = "\x16\x03\x01" + bytes;
    if (i % 4 == 3) bytes.clear();
    std::error_code ignored;
    asio::write(socket, asio::buffer(bytes), ignored);
    if (i % 2 == 0) continue;  // closes at once
    sockets.push_back(std::move(socket));
  }
  bed.start();
  bed.exchange(0, 1, 100'000);
  bed.leave_all();
  EXPECT_TRUE(bed.rejected(0).there());
}

TEST(Fault, RoutesThatGoInACircle) {
  Testbed bed({.sizes = {1, 1, 1}});
  const auto g0 = Testbed::node(0), g1 = Testbed::node(1), g2 = Testbed::node(2);
  bed.route({{{1, {g1}}, {2, {g1}}}, {{0, {g0}}, {2, {g0}}}, {{0, {g1}}, {1, {g1}}}});
  (void)g2;
  bed.start();
  const std::vector<std::byte> data(10);
  core::SendOp send;
  send.peer = 2;
  send.envelope = {1, 0, 0, 10};
  send.data = data;
  bed.rank(0).send(send);
  for (int r = 0; r < 3; ++r) EXPECT_THAT(bed.fault(r), HasSubstr("the routes go in a circle"));
  for (int r = 0; r < 3; ++r) bed.kill(r);
}

TEST(Fault, AMissingRoute) {
  Testbed bed({.sizes = {1, 1}});
  bed.route({{}});
  bed.start();
  core::SendOp send;
  send.peer = 1;
  send.envelope = {1, 0, 0, 0};
  bed.rank(0).send(send);
  EXPECT_THAT(bed.fault(1), HasSubstr("knows no route to cluster \"c1\""));
  for (int r = 0; r < 2; ++r) bed.kill(r);
}

TEST(Fault, TheChildOfAForkMayDropItsEndpoint) {
  Testbed bed({.sizes = {1, 1}});
  bed.start();
  const pid_t child = ::fork();
  if (child == 0) {
    bed.rank(0).abort(1, "not mine to say");
    bed.rank(0).leave();
    bed.kill(0);
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  bed.exchange(0, 1, 1000);
  bed.leave_all();
}

}  // namespace
}  // namespace isthmus::daemon
