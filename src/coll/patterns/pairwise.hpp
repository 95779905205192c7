// Direct messages to and from all other members of a cluster. Each member begins with another one,
// so that they do not all send to one member at once.
#pragma once

#include "coll/engine/phases.hpp"

namespace isthmus::coll {

/// Appends the receives for another member's send_to_members.
void receive_from_member(Party& party, int rank, Bytes place, int tag,
                         std::vector<Pending>& arrivals);

/// Receives from the other members of my cluster; by local index, my own and empty ones are left
/// out.
std::vector<Pending> receive_from_members(Party& party, const std::vector<Bytes>& places, int tag);

/// Sends to the other members, beginning with the next one, all at once. Long blocks go in several
/// messages.
Task send_to_members(Party& party, std::vector<ConstBytes> data, int tag);

/// The same, but with few bytes under way at a time, for a rank that alone has much to send.
Task send_by_turns(Party& party, std::vector<ConstBytes> data, int tag);

}  // namespace isthmus::coll
