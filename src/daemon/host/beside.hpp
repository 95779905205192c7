// Processes of Isthmus's own beside a rank.
#pragma once

#include <functional>
#include <vector>

namespace isthmus::daemon {

/// Starts a process that does `work` and ends. It is not a child of this process, which may wait
/// for children of its own. It keeps only standard error and the descriptors `keep`, which become
/// 3, 4 and so on there. Launchers believe that ranks have ended when their pipes and sockets
/// close. False, with errno, if the system refuses a
/// process.
bool start_beside(const char* name, std::vector<int> keep, const std::function<void()>& work);

}  // namespace isthmus::daemon
