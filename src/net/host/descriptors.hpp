// Room in this process's table of file descriptors.
#pragma once

namespace isthmus::net {

/// Makes room for `count` descriptors in the table, or for as many as the process may have. Call it
/// before threads are started. If threads share a table that grows later, opening a socket waits
/// until all cores have passed through the scheduler (synchronize_rcu). That took 11 to 15 ms on a
/// busy host, in the middle of messages (Linux 6.18, November 2026).
void reserve_descriptors(int count);

}  // namespace isthmus::net
