// Two grids in one process, whose gateways have a junction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

constexpr core::NodeId kEnd = 0xC000'0000U;
constexpr std::uint64_t kContext = std::uint64_t{1} << 57 | 42;

class Junctions : public testing::Test {
 protected:
  Junctions() {
    EXPECT_EQ(a.link() + b.link(), "");
    a.join();
    b.join();
    JunctionPlan plan{"b", kEnd, kEnd + 1, "j", "secret of it", {"unix:" + a.folder() + "/j"}, {}};
    plan.connect = a.on_io([&] { return a.gateway(1).join(plan, {}); });
    std::swap(plan.self, plan.peer);
    plan.run = "a";
    plan.listen.clear();
    Awaited<std::string> stands;
    b.on_io([&] {
      return b.gateway(0).join(plan, [&](const std::string& trouble) { stands.set(trouble); });
    });
    EXPECT_EQ(stands.get(), "");
  }

  static void grow(Testbed& bed, std::size_t like, const std::string& run,
                   const std::vector<int>& sizes) {
    std::size_t index = 2;
    int there = 0;
    for (const int size : sizes) {
      const core::Growth guests{index++,
                                like,
                                {.name = run + std::to_string(there),
                                 .size = size,
                                 .part = 1,
                                 .run = run,
                                 .there = there}};
      there += size;
      for (std::size_t i = 0; i < 2; ++i) bed.on_io([&] { bed.gateway(i).grow(guests); });
    }
    const int whole = bed.world().size() + there;
    for (int rank = 0; rank < bed.world().size(); ++rank) {
      while (bed.rank(rank).world()->size() < whole) {
        bed.rank(rank).wait_event(bed.rank(rank).events(), 10ms);
      }
    }
  }

  /// `to` is the receiver's number in its own grid.
  static void exchange(Testbed& here, int from, Testbed& there, int to, std::size_t size) {
    const std::vector<std::byte> data(size, std::byte{7});
    std::vector<std::byte> got(size);
    core::SendOp send;
    send.peer = static_cast<core::NodeId>(here.world().size() + to);
    send.envelope = {kContext, from, 1, size};
    send.data = data;
    core::RecvOp recv;
    recv.context = kContext;
    recv.source = from;
    recv.tag = 1;
    recv.buffer = got.data();
    recv.capacity = size;
    there.rank(to).recv(recv);
    here.rank(from).send(send);
    here.wait(from, send);
    there.wait(to, recv);
    EXPECT_TRUE(got == data);
  }

  Testbed a{{.sizes = {1, 2}}}, b{{.sizes = {2, 1}}};
};

TEST_F(Junctions, EachGridHasNumbersOfItsOwn) {
  grow(a, 1, "b", {2, 1});
  grow(b, 0, "a", {1, 2});
  for (const std::size_t size : {0, 8, 1'000'000}) {
    exchange(a, 0, b, 2, size);  // from behind a gateway to behind a gateway
    exchange(b, 2, a, 0, size);
    exchange(a, 2, b, 1, size);
    exchange(b, 0, a, 1, size);
  }
  a.leave_all();
  b.leave_all();
}

TEST_F(Junctions, WhatComesFromOthersThanGuestsIsDropped) {
  grow(a, 1, "b", {2});  // the third is not told of
  grow(b, 0, "a", {1, 2});
  core::SendOp send;
  send.peer = 3;
  send.envelope = {kContext, 0, 1, 0};
  b.rank(2).send(send);
  exchange(b, 0, a, 0, 8);
  exchange(a, 0, b, 0, 8);
  EXPECT_FALSE(a.rank(0).probe(kContext, 0, 1));
  EXPECT_FALSE(a.faulted(0));
  a.leave_all();
  b.leave_all();
}

TEST_F(Junctions, AGridThatEndsDoesNotEndTheOther) {
  grow(a, 1, "b", {2, 1});
  grow(b, 0, "a", {1, 2});
  exchange(b, 2, a, 0, 8);
  b.destroy_gateway(0);
  a.on_io([&] {
    a.gateway(0).part("b", "it has ended");
    a.gateway(1).part("b", "it has ended");
  });
  core::SendOp send;
  send.peer = 3;
  send.envelope = {kContext, 0, 1, 0};
  a.rank(0).send(send);  // to whom nobody is
  a.wait(0, send);
  a.exchange(0, 2, 8);
  EXPECT_FALSE(a.faulted(0));
  a.leave_all();
}

}  // namespace
}  // namespace isthmus::daemon
