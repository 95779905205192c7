// Processes of one host that lend each other large messages, and what goes on meanwhile.
#include <atomic>
#include <cstring>
#include <thread>

#include "core/engine/peer_memory.hpp"
#include "daemon/gateway/gateway_testbed.hpp"

namespace isthmus::daemon {
namespace {

constexpr std::size_t kEnormous = std::size_t{1} << 30;

TEST(Lending, OthersAreAnsweredWhileALargeMessageIsRead) {
  if (!core::PeerMemory::reach(core::PeerMemory::of_this_process(nullptr))) {
    GTEST_SKIP() << "the system has no process_vm_readv";
  }
  Testbed bed({.sizes = {1, 1}, .direct = {{.a = 0, .b = 1, .tcp = false, .shm = true}}});
  bed.start();
  std::atomic<int> reads{0};
  std::atomic<bool> enormous{false}, begun{false}, answered{false};
  const auto set_reader = [&] {
    bed.rank(0).locked([&](core::Engine& engine) {
      engine.read_from(1, [&](std::uint64_t address, std::span<std::byte> to) {
        ++reads;
        if (!enormous) {
          std::memcpy(to.data(), reinterpret_cast<const std::byte*>(address), to.size());
          return true;
        }
        // The memory is not touched: it need not be there. A request that this delays gets no
        // answer before it ends.
        begun = true;
        if (!answered) std::this_thread::sleep_for(20ms);
        return true;
      });
    });
  };
  while (reads == 0) {  // until the two have found each other's memory
    set_reader();
    bed.exchange(1, 0, 100'000);
  }
  const std::unique_ptr<std::byte[]> there(new std::byte[kEnormous]),
      here(new std::byte[kEnormous]);
  core::RecvOp recv;
  recv.context = 42;
  recv.source = recv.tag = 1;
  recv.buffer = here.get();
  recv.capacity = kEnormous;
  core::SendOp send;
  send.peer = 0;
  send.envelope = {42, 1, 1, kEnormous};
  send.data = {there.get(), kEnormous};
  enormous = true;
  std::atomic<bool> before_the_end{false};
  std::thread other([&] {
    while (!begun) std::this_thread::yield();
    bed.exchange(0, 1, 8, 2);
    bed.exchange(1, 0, 8, 2);
    before_the_end = !recv.done();
    answered = true;
  });
  bed.rank(0).recv(recv);
  bed.rank(1).send(send);
  bed.wait(0, recv);
  other.join();
  bed.wait(1, send);
  EXPECT_TRUE(before_the_end);
  bed.leave_well();
}

}  // namespace
}  // namespace isthmus::daemon
