// Messages to and from all other members of a cluster, straight, with little of them on the way at
// a time: what a member's link has queued delays whatever else it sends, above all to other
// clusters, and what several send to one member at a time is lost before its link.
#pragma once

#include "coll/network.hpp"
#include "coll/phases.hpp"

namespace isthmus::coll {

/// Appends the receives of what send_to_members sends from another member.
void receive_from_member(Party& party, int rank, Bytes place, int tag,
                         std::vector<Pending>& arrivals);

/// Receives from the other members of my cluster; by local index, my own and empty ones are left
/// out.
std::vector<Pending> receive_from_members(Party& party, const std::vector<Bytes>& places, int tag);

/// Sends to the other members, beginning with the next one, long blocks in several messages;
/// likewise.
Task send_to_members(Party& party, std::vector<ConstBytes> data, int tag);

/// Sends of one member that are under way in its cluster.
class FewSends {
 public:
  explicit FewSends(const Network& network);
  /// There must be room.
  void add(Pending send, std::size_t bytes);
  bool room() const;
  bool empty() const { return sends_.empty(); }
  Pending& oldest() { return sends_.front().pending; }
  void drop_oldest();

 private:
  struct Send {
    Pending pending;
    std::size_t bytes;
  };
  std::vector<Send> sends_;
  std::size_t limit_, bytes_ = 0;
};

}  // namespace isthmus::coll
