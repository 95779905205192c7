// Tasks of one rank that run side by side, as the streams of a pipeline do, and waits of one for
// another.
#pragma once

#include <functional>
#include <vector>

#include "coll/engine/task.hpp"

namespace isthmus::coll {

/// Done when all tasks are done. Each poll steps the unfinished tasks. An exception of one task
/// comes out of the co_await. The other tasks are then destroyed with the operation.
Pending all_of(std::vector<Task> tasks);

/// Done when the condition holds. Its captures must outlive the operation.
Pending until(std::function<bool()> condition);

}  // namespace isthmus::coll
