// Processes of Isthmus's own beside a rank.
#pragma once

#include <functional>
#include <vector>

namespace isthmus::daemon {

/// Starts a process that does `work` and ends. It is no child of this one, which may wait for
/// children of its own, and holds nothing of it but standard error and the descriptors `keep`,
/// which are 3, 4 and so on there: launchers take the end of pipes and sockets for the end of
/// ranks. False when there are no processes left.
bool start_beside(const char* name, std::vector<int> keep, const std::function<void()>& work);

}  // namespace isthmus::daemon
