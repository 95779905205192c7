#include "net/endpoint/direct.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <optional>

#include "net/shm/lending.hpp"

namespace isthmus::net {
namespace {

using namespace std::chrono_literals;

// Two processes on one io_context; their Invites are carried by hand.
class DirectTest : public testing::TestWithParam<core::NodeId> {
 protected:
  struct User;
  struct End {
    std::shared_ptr<User> user;
    std::shared_ptr<Direct> direct;
    std::size_t arrived = 0;
    std::vector<std::byte> place, expected;  // where payloads of this size go, what it is then
    std::vector<std::byte> taken_back;       // what it was when it was not given any more
    int places = 0;                          // so often the place is given
    int placed = 0;
    std::size_t lost = 0;                   // conduits
    std::size_t salvaged = 0;               // bytes of frames
    int invites = 0;                        // received
    std::optional<core::PeerMemory> reads;  // of the other
    int lends = 0;                          // so often the other has said that it reads
    std::vector<std::string> replaced;      // what its Invites say instead of its addresses
  };

  struct User final : DirectUser {
    User(asio::io_context& context, core::NodeId self, End& own, End& others)
        : io(context), node(self), mine(own), other(others) {}

    bool frame(core::NodeId /*from*/, const core::InFrame& frame) override {
      mine.arrived += frame.body.size() + frame.placed;
      if (frame.placed > 0) {
        ++mine.placed;
        EXPECT_EQ(frame.body.size(), 16U);
        EXPECT_EQ(mine.place, mine.places > 0 ? mine.expected : mine.taken_back);
      }
      std::fill(mine.place.begin(), mine.place.end(), std::byte{0});
      return true;
    }
    core::Landing place(core::NodeId /*from*/, const core::InFrame& beginning) override {
      const std::size_t payload = beginning.body.size() + beginning.placed - 16;
      if (payload != mine.place.size() || mine.places == 0) {
        mine.taken_back = mine.place;
        return {};
      }
      --mine.places;
      return {.payload = mine.place, .behind = {}};
    }
    void progress() override {}
    void invite(core::NodeId /*to*/, const std::vector<std::byte>& body) override {
      Invite invite = *decode_invite(body);
      if (!mine.replaced.empty() && !invite.addresses.empty()) invite.addresses = mine.replaced;
      asio::post(io, [&other = other, node = node, invite] {
        ++other.invites;
        other.direct->take_invite(node, invite);
      });
    }
    void share(std::size_t /*cluster*/, double /*part*/) override {}
    void reads(core::NodeId /*from*/, const core::PeerMemory& memory) override {
      mine.reads = memory;
    }
    void lends(core::NodeId /*to*/) override { ++mine.lends; }
    void lost(const core::Conduit& conduit) override {
      ++mine.lost;
      conduit.salvage([this](const core::InFrame& frame) { mine.salvaged += frame.body.size(); });
    }

    asio::io_context& io;
    core::NodeId node;
    End& mine;
    End& other;
  };

  DirectTest() {
    world_.clusters = {{"a", 0, 1}, {"b", 1, 1}};
    world_.direct = {{0, 1, true}};
    for (const core::NodeId node : {0U, 1U}) make(node);
  }
  ~DirectTest() override {
    for (End& end : ends_) end.direct->close();
  }

  void make(core::NodeId node, const std::string& ports = {}) {
    End& mine = ends_[node];
    if (mine.direct) mine.direct->close();
    mine.user = std::make_shared<User>(io_, node, mine, ends_[1 - node]);
    mine.direct =
        std::make_shared<Direct>(io_, world_, node, Credentials{"job", "secret"}, *mine.user);
    mine.direct->listen(ports);
  }

  // Makes the ends again, as processes of one host, of which some lend.
  void make_near(bool first_lends, bool second_lends) {
    for (End& end : ends_) end.direct->close();
    world_.direct[0].shm = true;
    for (const core::NodeId node : {0U, 1U}) make(node);
    if (first_lends) ends_[0].direct->lend();
    if (second_lends) ends_[1].direct->lend();
    EXPECT_FALSE(stands(0));
    ASSERT_TRUE(run_until([&] { return stands(0) && stands(1); }));
  }
  void say(core::NodeId from, const shm::LendingBody& body) {
    const auto bytes = shm::encode_lending(body);
    core::OutFrame frame;
    frame.kind = core::FrameKind::Control;
    frame.source = from;
    frame.destination = 1 - from;
    frame.payload = bytes;
    ends_[from].direct->to(1 - from)->conduit().submit(frame);
    ends_[from].direct->to(1 - from)->flush();
  }

  // Until `done` or for a minute.
  template <class Done>
  bool run_until(Done done) {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (!done() && std::chrono::steady_clock::now() < limit) io_.run_one_for(10ms);
    return done();
  }

  bool stands(core::NodeId at) { return ends_[at].direct->to(1 - at) != nullptr; }

  void send(core::NodeId from, std::size_t size) { send(from, std::vector<std::byte>(size)); }
  void send(core::NodeId from, const std::vector<std::byte>& payload) {
    core::OutFrame frame;
    frame.kind = core::FrameKind::Piece;
    frame.source = from;
    frame.destination = 1 - from;
    frame.payload = payload;
    ConduitDriver* const driver = ends_[from].direct->to(1 - from);
    ASSERT_NE(driver, nullptr);
    driver->conduit().submit(frame);
    driver->flush();
  }

  asio::io_context io_;
  core::World world_;
  End ends_[2];
};

TEST_P(DirectTest, WhoeverSpeaksFirstTheConduitStands) {
  EXPECT_FALSE(stands(GetParam()));
  ASSERT_TRUE(run_until([&] { return stands(GetParam()); }));
  ASSERT_TRUE(run_until([&] { return stands(1 - GetParam()); }));
  send(0, 1000);
  send(1, 2000);
  EXPECT_TRUE(run_until([&] { return ends_[1].arrived == 1000 && ends_[0].arrived == 2000; }));
}

TEST_P(DirectTest, AConduitToAFailedClusterClosesWithoutAWord) {
  EXPECT_FALSE(stands(GetParam()));
  ASSERT_TRUE(run_until([&] { return stands(0) && stands(1); }));
  ends_[0].direct->forget(1);
  EXPECT_FALSE(stands(0));
  EXPECT_TRUE(run_until([&] { return ends_[1].lost == 1; }));
  EXPECT_EQ(ends_[0].lost, 0U);
  EXPECT_TRUE(ends_[0].direct->flushed());
  EXPECT_TRUE(ends_[0].direct->arrived());
}

TEST_P(DirectTest, NoConduitIsOpenedToAFailedCluster) {
  ends_[0].direct->forget(1);
  EXPECT_FALSE(stands(0));
  EXPECT_FALSE(stands(1));
  ASSERT_TRUE(run_until([&] { return ends_[0].invites > 0; }));
  EXPECT_FALSE(stands(0));
  EXPECT_EQ(ends_[1].invites, 0);
}

TEST_P(DirectTest, WhereTheFirstCannotBeReachedTheOtherIs) {
  ends_[0].replaced = {"tcp:127.0.0.1:1"};  // nothing listens there
  EXPECT_FALSE(stands(GetParam()));
  ASSERT_TRUE(run_until([&] { return stands(0) && stands(1); }));
  send(0, 10);
  EXPECT_TRUE(run_until([&] { return ends_[1].arrived == 10; }));
}

TEST_P(DirectTest, WhoFindsNoPortConnectsToTheOther) {
  const asio::ip::tcp::acceptor taken(io_, {asio::ip::tcp::v6(), 0});
  const std::string port = std::to_string(taken.local_endpoint().port());
  for (End& end : ends_) end.direct->close();
  make(GetParam(), port + '-' + port);
  make(1 - GetParam());
  EXPECT_FALSE(stands(0));
  ASSERT_TRUE(run_until([&] { return stands(0) && stands(1); }));
  send(0, 10);
  EXPECT_TRUE(run_until([&] { return ends_[1].arrived == 10; }));
}

// A body whose payload the end has a place for, and expects.
template <class End>
std::vector<std::byte> landing_at(End& end) {
  constexpr std::size_t kPayload = 60'000, kHead = 16;
  std::vector<std::byte> body(kHead + kPayload);
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<std::byte>(i * 7 + i / 256);
  end.expected.assign(body.begin() + kHead, body.end());
  end.place.resize(kPayload);
  end.places = 1'000'000;
  return body;
}

// Frames that come in part: of many that are sent at once most do.
TEST_F(DirectTest, TheRestOfAFrameIsReadToItsPlace) {
  constexpr std::size_t kFrames = 40;
  const std::vector<std::byte> body = landing_at(ends_[1]);
  End& end = ends_[1];
  EXPECT_FALSE(stands(0));
  ASSERT_TRUE(run_until([&] { return stands(0) && stands(1); }));
  const auto send_all = [&] {
    end.arrived = 0;
    for (std::size_t i = 0; i < kFrames; ++i) send(0, body);
    return run_until([&] { return end.arrived == kFrames * body.size(); });
  };
  ASSERT_TRUE(send_all());
  EXPECT_GT(end.placed, 0);
  // The place is taken back while a frame is landing there: it arrives all the same.
  end.places = 1;
  end.placed = 0;
  ASSERT_TRUE(send_all());
  EXPECT_EQ(end.placed, 1);
}

// Some of many frames are written, even in part, and some wait when they are owned.
TEST_F(DirectTest, WhatIsBorrowedMayChangeOnceItIsOwned) {
  constexpr std::size_t kFrames = 40;
  std::vector<std::byte> body = landing_at(ends_[1]);
  End& end = ends_[1];
  EXPECT_FALSE(stands(0));
  ASSERT_TRUE(run_until([&] { return stands(0) && stands(1); }));
  core::OutFrame frame;
  frame.kind = core::FrameKind::Piece;
  frame.source = 0;
  frame.destination = 1;
  frame.payload = body;
  ConduitDriver& driver = *ends_[0].direct->to(1);
  for (std::size_t i = 0; i < kFrames; ++i) {
    driver.conduit().submit_borrowed(frame);
    driver.flush();
  }
  driver.own();
  EXPECT_FALSE(driver.conduit().own_some(0));
  std::ranges::fill(body, std::byte{0});
  ASSERT_TRUE(run_until([&] { return end.arrived == kFrames * body.size(); }));
  EXPECT_GT(end.placed, 0);
}

INSTANTIATE_TEST_SUITE_P(FirstToSpeak, DirectTest, testing::Values(0U, 1U));

TEST_F(DirectTest, ProcessesOfOneHostReadEachOther) {
  if (!core::PeerMemory::reach(core::PeerMemory::of_this_process(nullptr))) {
    GTEST_SKIP() << "the system has no process_vm_readv";
  }
  ASSERT_NO_FATAL_FAILURE(make_near(true, true));
  ASSERT_TRUE(run_until([&] { return ends_[0].lends == 1 && ends_[1].lends == 1; }));
  ASSERT_TRUE(ends_[0].reads && ends_[1].reads);
  const std::vector<std::byte> there(100, std::byte{7});
  std::vector<std::byte> here(100);
  EXPECT_TRUE(ends_[0].reads->read(
      static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(there.data())), here));
  EXPECT_EQ(here, there);
}

TEST_F(DirectTest, WhoDoesNotLendTellsNothing) {
  ASSERT_NO_FATAL_FAILURE(make_near(true, false));
  say(0, {.read = true});
  send(0, 10);
  send(1, 10);
  ASSERT_TRUE(run_until([&] { return ends_[0].arrived == 10 && ends_[1].arrived == 10; }));
  EXPECT_FALSE(ends_[0].reads);
  EXPECT_EQ(ends_[1].lends, 0);
}

TEST_F(DirectTest, MemoryWithoutTheMarkIsNotRead) {
  ASSERT_NO_FATAL_FAILURE(make_near(false, false));
  auto memory = core::PeerMemory::of_this_process(nullptr);
  ++memory.mark[0];
  say(0, {.memory = memory});
  send(0, 10);
  ASSERT_TRUE(run_until([&] { return ends_[1].arrived == 10; }));
  EXPECT_FALSE(ends_[1].reads);
}

TEST_F(DirectTest, MemoryIsToldByRingsAlone) {
  EXPECT_FALSE(stands(0));
  ASSERT_TRUE(run_until([&] { return stands(0) && stands(1); }));
  say(0, {.memory = core::PeerMemory::of_this_process(nullptr)});
  send(0, 10);
  ASSERT_TRUE(run_until([&] { return ends_[1].arrived == 10; }));
  EXPECT_FALSE(ends_[1].reads);
}

TEST_F(DirectTest, WhereNeitherCanBeReachedTheGatewaysServe) {
  ends_[0].replaced = ends_[1].replaced = {"tcp:127.0.0.1:1"};
  EXPECT_FALSE(stands(0));
  ASSERT_TRUE(run_until([&] { return ends_[0].invites == 1 && ends_[1].invites == 1; }));
  for (int i = 0; i < 50; ++i) io_.run_one_for(10ms);
  EXPECT_FALSE(stands(0) || stands(1));
  EXPECT_EQ(ends_[0].invites + ends_[1].invites, 2);  // and they leave it at that
  EXPECT_EQ(ends_[0].lost + ends_[1].lost, 0U);
}

TEST_F(DirectTest, AProcessThatLeavesIsNoFault) {
  EXPECT_FALSE(stands(0));
  ASSERT_TRUE(run_until([&] { return stands(0) && stands(1); }));
  send(1, 5000);
  ends_[1].direct->bye();
  ends_[1].direct->flush();
  ASSERT_TRUE(run_until([&] { return ends_[1].direct->flushed(); }));
  ends_[1].direct->close();
  EXPECT_TRUE(run_until([&] { return !stands(0); }));
  EXPECT_EQ(ends_[0].arrived, 5000U);
  EXPECT_TRUE(run_until([&] { return ends_[0].direct->flushed(); }));
  EXPECT_EQ(ends_[0].lost, 0U);
}

// Frames that the other end may not have are handed back, and no more frames go there.
TEST_F(DirectTest, AConduitThatDiesIsGivenUp) {
  EXPECT_FALSE(stands(0));
  ASSERT_TRUE(run_until([&] { return stands(0) && stands(1); }));
  core::Conduit& conduit = ends_[0].direct->to(1)->conduit();
  send(0, 1000);
  conduit.fail("is broken");
  send(0, 500);  // before anybody has noticed
  EXPECT_EQ(ends_[0].lost, 1U);
  EXPECT_EQ(ends_[0].salvaged, 1500U);
  EXPECT_FALSE(stands(0));
  // The other end tries to open it again, and hears that it is over.
  EXPECT_TRUE(run_until([&] { return ends_[1].lost == 1 || !stands(1); }));
}

TEST(Objection, IsOfThePeersOwnLink) {
  const core::Direct open{0, 1, false}, encrypted{0, 2, true};
  Listener::Newcomer newcomer;
  EXPECT_FALSE(objection(&open, newcomer));
  EXPECT_FALSE(objection(&encrypted, newcomer));
  EXPECT_TRUE(objection(nullptr, newcomer));
  newcomer.exposed = true;
  EXPECT_FALSE(objection(&open, newcomer));
  EXPECT_TRUE(objection(&encrypted, newcomer));
}

TEST(Invite, SaysWhatItSaid) {
  const auto invite = decode_invite(encode_invite({{"tcp:a:1", "tcp:[::1]:2"}, true}));
  ASSERT_TRUE(invite);
  EXPECT_EQ(invite->addresses, (std::vector<std::string>{"tcp:a:1", "tcp:[::1]:2"}));
  EXPECT_TRUE(invite->unreachable);
}

TEST(Invite, GarbageIsNone) {
  std::string many;
  for (int i = 0; i < 17; ++i) many += std::string(many.empty() ? "" : ",") + "\"x\"";
  const std::string texts[] = {"",
                               "{",
                               "[]",
                               "{}",
                               R"({"at":3,"unreachable":false})",
                               R"({"at":[3],"unreachable":false})",
                               R"({"at":["x"]})",
                               std::string(50'000, '['),
                               R"({"unreachable":false,"at":[)" + many + "]}"};
  for (const std::string& text : texts) {
    EXPECT_FALSE(decode_invite(std::as_bytes(std::span(text)))) << text.substr(0, 60);
  }
}

}  // namespace
}  // namespace isthmus::net
