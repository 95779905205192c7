// The root posts; all others wait for it alone.
#include "coll/bcast/bcast.hpp"
#include "coll/patterns/posts.hpp"

namespace isthmus::coll {

Task bcast_commons(Party& party, Bytes data, int root, Parameters) {
  Commons& commons = *party.commons();
  if (party.rank() == root) {
    Pending room = commons.make_room(data.size());
    co_await room;
    commons.put(data);
    commons.post();
    co_return;
  }
  commons.post();
  Pending posted = commons.posted(root);
  co_await posted;
  commons.take(root, data);
}

namespace {

double cost_bcast_commons(const Setting& setting, const Parameters&) {
  const auto bytes = static_cast<double>(setting.bytes());
  return cost_of_rounds(setting, 1, 2 * bytes);
}

}  // namespace

const Algorithm kBcastCommons{Kind::Bcast,        "commons",     kCommons, kNone,
                              cost_bcast_commons, bcast_commons, ""};

}  // namespace isthmus::coll
