// Windows in memory that no instruction can touch: the addresses of the devices stand for memory of
// the test.
#include <array>
#include <stdexcept>

#include "rma/device_area.hpp"
#include "rma/window_testbed.hpp"

namespace isthmus::rma {
namespace {

constexpr std::uintptr_t kDevices = 0x10'0000'0000;  // no program has memory there
constexpr std::uintptr_t kApartBy = 0x1'0000'0000;
std::array<std::vector<std::byte>, 3> behind;
bool fails = false;
int open_now = 0, opened = 0;

std::byte* address_of(int rank, std::size_t at = 0) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is there
  return reinterpret_cast<std::byte*>(kDevices + kApartBy * static_cast<std::uintptr_t>(rank) + at);
}
std::byte* reach(const std::byte* at, std::size_t bytes) {
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(at) - kDevices;
  auto& memory = behind.at(offset / kApartBy);
  if (offset % kApartBy + bytes > memory.size()) throw std::out_of_range("no memory of the device");
  return memory.data() + offset % kApartBy;
}

// Copies happen at the end, as a driver's may.
class TestCopies final : public DeviceCopies {
 public:
  TestCopies() { ++open_now, ++opened; }
  ~TestCopies() override { --open_now; }
  void to_host(std::byte* to, const std::byte* from, std::size_t bytes) override {
    add(to, reach(from, bytes), bytes);
  }
  void to_device(std::byte* to, const std::byte* from, std::size_t bytes) override {
    add(reach(to, bytes), from, bytes);
  }
  void end() override {
    for (const Copy& copy : copies_) std::memcpy(copy.to, copy.from, copy.bytes);
    copies_.clear();
  }

 private:
  struct Copy {
    std::byte* to;
    const std::byte* from;
    std::size_t bytes;
  };
  void add(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (fails) throw std::runtime_error("the device is lost");
    copies_.push_back({to, from, bytes});
  }
  std::vector<Copy> copies_;
};
std::unique_ptr<DeviceCopies> open(const std::byte*) { return std::make_unique<TestCopies>(); }

struct DeviceProcess {
  DeviceProcess(int rank, const std::vector<core::NodeId>& nodes)
      : engine(nodes[static_cast<std::size_t>(rank)], {.window = 20'000, .piece = 1000}),
        window(engine, {.context = kContext, .rank = rank, .nodes = nodes, .open_device = open},
               Memory::fixed(address_of(rank), kSize, Reach::Device)) {}
  core::Engine engine;
  Window window;
};

class DeviceTest : public WindowTestOf<DeviceProcess> {
 protected:
  DeviceTest() {
    for (auto& memory : behind) memory.assign(kSize, std::byte{0});
    fails = false;
  }
  ~DeviceTest() override { EXPECT_EQ(open_now, 0); }
  std::byte* memory(int rank) { return behind[static_cast<std::size_t>(rank)].data(); }
};

// `staged`: the origin knows that it is a device.
TEST_F(DeviceTest, DataOfAllSizesGoesThereAndBack) {
  for (const bool staged : {false, true}) {
    for (const std::size_t size : {1, 777, 20'000, 70'000, 290'000}) {
      for (int target = 0; target < kRanks; ++target) {
        const auto sent = some_bytes(size);
        const auto ticket = std::make_shared<std::atomic<int>>(0);
        const Place place{.rank = target, .displacement = 11, .staged = staged};
        window(0).put(place, sent, nullptr, ticket);
        flush(0, target);
        EXPECT_EQ(*ticket, 0);
        EXPECT_TRUE(std::equal(sent.begin(), sent.end(), memory(target) + 11));
        std::vector<std::byte> got(size);
        window(0).get(place, got, nullptr);
        flush(0, target);
        EXPECT_EQ(got, sent);
        EXPECT_FALSE(window(0).take_failure(target));
      }
    }
  }
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_TRUE(window(rank).quiet());
}

TEST_F(DeviceTest, ElementsWithGapsAreReachedAndTheGapsStay) {
  for (const std::int64_t apart : {24, 400}) {
    for (auto& each : behind) std::fill(each.begin(), each.end(), std::byte{7});
    core::TypeMapBuilder builder;
    builder.add(core::TypeMap::basic(8, 8, 8), 1, 0, 700, apart);
    const core::TypeMap map = std::move(builder).build();
    const auto sent = some_bytes(5600);
    const Place place{.rank = 1, .displacement = 16, .map = &map, .count = 1, .staged = true};
    window(0).put(place, sent, nullptr, nullptr);
    flush(0, 1);
    std::vector<std::byte> got(sent.size()), there(sent.size());
    core::TypeCursor cursor(map, 1);
    core::pack(cursor, memory(1) + 16, there);
    EXPECT_EQ(there, sent);
    EXPECT_EQ(memory(1)[24], std::byte{7});
    window(0).get(place, got, nullptr);
    flush(0, 1);
    EXPECT_EQ(got, sent);
    std::vector<std::int64_t> ones(700, 1), before(700);
    window(0).fetch(place, kSum, std::as_bytes(std::span(ones)),
                    std::as_writable_bytes(std::span(before)), nullptr);
    flush(0, 1);
    EXPECT_EQ(std::memcmp(before.data(), sent.data(), sent.size()), 0);
    std::int64_t last = 0;
    std::memcpy(&last, memory(1) + 16 + 699 * apart, sizeof last);
    EXPECT_EQ(last, before.back() + 1);
    EXPECT_EQ(memory(1)[24], std::byte{7});
  }
}

TEST_F(DeviceTest, OriginsCombineInOnePlace) {
  std::int64_t before = -1, zero = 0, fortune = 40;
  const std::int64_t one = 1;
  std::vector<std::int64_t> many(20'000, 1);
  for (int origin = 0; origin < kRanks; ++origin) {
    for (int i = 0; i < 10; ++i) {
      window(origin).accumulate({.rank = 1}, kSum, number_bytes(one), nullptr, nullptr);
    }
    window(origin).accumulate({.rank = 1, .displacement = 8}, kSum, std::as_bytes(std::span(many)),
                              nullptr, nullptr);
  }
  for (int origin = 0; origin < kRanks; ++origin) flush(origin, 1);
  window(2).fetch({.rank = 1}, {Op::NoOp, plain(Number::I64)}, {}, number_room(before), nullptr);
  window(2).compare_and_swap({.rank = 1}, number_bytes(zero), number_bytes(one), number_room(zero),
                             nullptr);
  flush(2, 1);
  EXPECT_EQ(before, 30);
  EXPECT_EQ(zero, 30) << "it was not 0";
  window(2).compare_and_swap({.rank = 1}, number_bytes(before), number_bytes(fortune),
                             number_room(zero), nullptr);
  flush(2, 1);
  std::int64_t now = 0;
  std::memcpy(&now, memory(1), sizeof now);
  EXPECT_EQ(now, 40);
  std::memcpy(&now, memory(1) + 8 + 8 * 19'999, sizeof now);
  EXPECT_EQ(now, kRanks);
}

TEST_F(DeviceTest, AValueAndItsIndexAreComparedOnTheHost) {
  struct Pair {
    double value;
    int index;
  };
  const Element pair = pair_of(Number::F64, Number::I32, offsetof(Pair, index), sizeof(Pair));
  std::vector<std::byte> packed(2 * pair.packed());
  for (int i = 0; i < 2; ++i) {
    const double value = 2.5 + i;
    const int index = 7 + i;
    std::memcpy(packed.data() + 12 * i, &value, 8);
    std::memcpy(packed.data() + 12 * i + 8, &index, 4);
  }
  window(0).accumulate({.rank = 2, .displacement = kSize - 28}, {Op::MaxLoc, pair}, packed, nullptr,
                       nullptr);
  flush(0, 2);
  EXPECT_FALSE(window(0).take_failure(2)) << "the last element ends before its extent";
  Pair last{};
  std::memcpy(&last, memory(2) + kSize - 12, 12);
  EXPECT_EQ(last.value, 3.5);
  EXPECT_EQ(last.index, 8);
}

TEST_F(DeviceTest, FailuresOfTheDeviceReachTheOriginThatMetThem) {
  fails = true;
  const auto sent = some_bytes(100);
  std::vector<std::byte> got(100);
  std::int64_t before = 0;
  window(0).put({.rank = 1}, sent, nullptr, nullptr);
  flush(0, 1);
  EXPECT_EQ(window(0).take_failure(1)->device, "the device is lost");
  EXPECT_FALSE(window(0).take_failure(1));
  window(0).get({.rank = 1}, got, nullptr);
  flush(0, 1);
  EXPECT_EQ(window(0).take_failure(1)->device, "the device is lost");
  window(0).compare_and_swap({.rank = 1}, number_bytes(before), number_bytes(before),
                             number_room(before), nullptr);
  flush(0, 1);
  EXPECT_EQ(window(0).take_failure(1)->device, "the device is lost");
  const auto large = some_bytes(100'000);
  window(0).put({.rank = 1}, large, nullptr, nullptr);
  window(2).put({.rank = 1, .displacement = 8, .staged = true}, large, nullptr, nullptr);
  flush(0, 1);
  flush(2, 1);
  EXPECT_EQ(window(0).take_failure(1)->device, "the device is lost");
  EXPECT_EQ(window(2).take_failure(1)->device, "the device is lost");
  fails = false;
  window(0).put({.rank = 1}, sent, nullptr, nullptr);
  flush(0, 1);
  EXPECT_FALSE(window(0).take_failure(1));
}

TEST_F(DeviceTest, RegionsOfSeveralDevicesHaveTheirOwnCopies) {
  std::vector<std::byte> host(100);
  Memory& memory_of_1 = window(1).target().memory();
  memory_of_1 = Memory::dynamic();
  memory_of_1.attach(address_of(1), 100, Reach::Device);
  memory_of_1.attach(address_of(2), 100, Reach::Device);
  memory_of_1.attach(host.data(), 100);
  const std::byte* const places[] = {address_of(1), address_of(2), host.data(), address_of(1, 50)};
  const auto sent = some_bytes(40);
  opened = 0;
  for (const std::byte* const place : places) {
    window(0).put({.rank = 1, .displacement = reinterpret_cast<std::intptr_t>(place)},
                  std::span(sent).subspan(0, 20), nullptr, nullptr);
    window(0).put({.rank = 1, .displacement = reinterpret_cast<std::intptr_t>(place + 20)},
                  std::span(sent).subspan(20), nullptr, nullptr);
  }
  flush(0, 1);
  EXPECT_FALSE(window(0).take_failure(1));
  EXPECT_EQ(opened, 3) << "operations in a row on one of them share copies";
  for (const std::byte* const there : {memory(1), memory(2), host.data(), memory(1) + 50}) {
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), there));
  }
}

TEST_F(DeviceTest, DataForMemoryThatHasGoneIsDropped) {
  const auto large = some_bytes(100'000);
  const auto at = reinterpret_cast<std::intptr_t>(address_of(1));
  window(1).target().memory() = Memory::dynamic();
  window(1).target().memory().attach(address_of(1), kSize, Reach::Device);
  holds = [](const core::OutFrame& out) {
    return out.kind == core::FrameKind::Piece && out.source == 10;
  };
  window(0).put({.rank = 1, .displacement = at}, large, nullptr, nullptr);
  run();
  window(1).target().memory().detach(address_of(1));
  holds = nullptr;
  std::move(held.begin(), held.end(), std::back_inserter(frames));
  held.clear();
  flush(0, 1);
  const auto failure = window(0).take_failure(1);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->device, "");
}

// Elements in two rows: the device takes the copy of one, and is lost.
TEST(DeviceArea, CopiesThatHaveBegunEndWhenAnotherFails) {
  struct Losing final : DeviceCopies {
    void copy() {
      if (under_way) throw std::runtime_error("the device is lost");
      under_way = true;
    }
    void to_host(std::byte*, const std::byte*, std::size_t) override { copy(); }
    void to_device(std::byte*, const std::byte*, std::size_t) override { copy(); }
    void end() override { under_way = false; }
    bool under_way = false;
  };
  Losing copies;
  core::TypeMapBuilder builder;
  builder.add(core::TypeMap::basic(4, 4, 4), 1, 0, 2, 64);
  const core::TypeMap map = std::move(builder).build();
  const Elements there{.memory = address_of(0), .map = &map, .count = 1, .size = 8};
  const Combination how{.op = Op::Sum, .element = plain(Number::I32)};
  const std::vector<std::byte> data(8);
  EXPECT_THROW(static_cast<void>(combine_device(copies, there, how, data, {})), std::runtime_error);
  EXPECT_FALSE(copies.under_way);
}

}  // namespace
}  // namespace isthmus::rma
