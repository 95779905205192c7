// Room in this process's table of file descriptors.
#pragma once

namespace isthmus::net {

/// Has the table hold `count` descriptors, or as many as the process may have. A table that grows
/// later makes the thread that opens a socket wait until all cores have passed through the
/// scheduler (synchronize_rcu), where threads share it: 11 to 15 ms on a busy host, in the middle
/// of messages (Linux 6.18, November 2026). Before threads are started.
void reserve_descriptors(int count);

}  // namespace isthmus::net
