// A thread can ask the kernel for a short slice: the time that it runs before others that are
// ready.
#pragma once

#include <cstdint>

namespace isthmus::net {

/// The slice of the processes and threads that a thread starts.
enum class Children : std::uint8_t {
  Same,   ///< the thread's own
  Usual,  ///< the system's. Only root can change that again.
};

/// Gives the calling thread the shortest slice, for good. A thread that carries messages needs its
/// core for microseconds, but at once: the kernel runs woken threads with short slices sooner
/// (sched_setattr(2), Linux 6.12 and later). Their share of the core stays the same: beside a
/// process with the usual slice, a computing one gets as far and is interrupted as often with
/// either. Older kernels ignore it, and some systems refuse it. Threads with another policy than
/// the usual one keep their slice. So do those with a negative niceness whose children get the
/// usual slice: the kernel would take the niceness from these, too. Measured in decision 50.
void shorten_slice(Children children);

}  // namespace isthmus::net
