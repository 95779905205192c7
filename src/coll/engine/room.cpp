#include "coll/engine/room.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "coll/engine/phases.hpp"

namespace isthmus::coll {
namespace {

/// Trips after the first, which may have to connect, are over by then in one room: more are not
/// begun.
constexpr double kTripsTime = 10e-3;
constexpr int kTrips = 10;
/// 1 ms at 1 Gbit/s: long beside a round trip, but little beside a program's own traffic.
constexpr std::size_t kLoad = std::size_t{128} << 10;
constexpr int kLoads = 3;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// The number of bytes that come next, little-endian; 0: the end.
using Order = std::array<std::byte, 8>;

Order order_of(std::size_t size) {
  Order order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::byte>(size >> 8 * i);
  return order;
}
std::size_t size_in(const Order& order) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    size |= std::to_integer<std::size_t>(order[i]) << 8 * i;
  return size;
}

/// Answers each message of rank 0 with one byte, until rank 0 orders nothing.
Task answer(Party& party) {
  std::vector<std::byte> load;
  for (;;) {
    Order order{};
    co_await party.recv(0, kTagBarrier, order);
    if (size_in(order) == 0) co_return;
    load.resize(size_in(order));
    co_await party.recv(0, kTagBarrier, load);
    Pending answered = party.send(0, kTagBarrier, std::span(load).first(1));
    co_await answered;
  }
}

/// `shortest`: the time from an order of `size` bytes to its answer, of some `trips`.
Task time_trips(Party& party, const Clock& clock, int leader, std::size_t size, int trips,
                double& shortest) {
  std::vector<std::byte> load(size);
  const Order order = order_of(size);
  std::byte back{};
  double second = 0;
  shortest = kNever;
  for (int i = 0; i < trips && (i < 2 || clock() - second < kTripsTime); ++i) {
    const double before = clock();
    if (i == 1) second = before;
    Pending ordered = party.send(leader, kTagBarrier, order);
    Pending loaded = party.send(leader, kTagBarrier, load);
    Pending answered = party.recv(leader, kTagBarrier, std::span(&back, 1));
    co_await ordered;
    co_await loaded;
    co_await answered;
    shortest = std::min(shortest, clock() - before);
  }
}

Task look(Party& party, const Clock& clock, std::optional<Room>& room) {
  const Layout& layout = party.layout();
  Room worst{kNever};
  bool near = true;
  for (int c = 1; c < layout.clusters() && near; ++c) {
    double alone = 0;
    co_await time_trips(party, clock, layout.leader(c), 1, kTrips, alone);
    near = alone <= kRoomRoundTrip;
    if (!near) break;
    double loaded = 0;
    co_await time_trips(party, clock, layout.leader(c), kLoad, kLoads, loaded);
    const double crossing = std::max(loaded - alone, 1e-6);
    worst.bandwidth = std::min(worst.bandwidth, kLoad / crossing);
  }
  const Order nothing{};
  std::vector<Pending> over;
  for (int c = 1; c < layout.clusters(); ++c) {
    over.push_back(party.send(layout.leader(c), kTagBarrier, nothing));
  }
  for (Pending& each : over) co_await each;
  if (near) room = worst;
}

}  // namespace

Task look_for_one_room(Party& party, const Clock& clock, std::optional<Room>& room) {
  const Layout& layout = party.layout();
  const int mine = layout.cluster_of(party.rank());
  if (party.rank() != layout.leader(mine)) co_return;
  if (mine == 0) {
    co_await look(party, clock, room);
  } else {
    co_await answer(party);
  }
}

}  // namespace isthmus::coll
