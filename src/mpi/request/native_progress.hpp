// Progress while the program's thread sits in a blocking call of the native library (a collective,
// the making of a communicator, window or file, a wait): Isthmus's outstanding operations go on
// meanwhile. docs/decisions/0012 gives the reason and the cost.
#pragma once

#include "mpi/request/outstanding.hpp"

namespace isthmus::face {

enum class ProgressBy {
  Hook,    ///< the native library's own progress loop calls pump()
  Thread,  ///< a thread of ours does, while a thread of the program is in a native call
  None,    ///< disabled: programs that the standard allows may hang
};

/// The kind that ISTHMUS_PROGRESS sets, or else the best that the native library allows. Call it
/// before the native library is initialized; `multiple`: the program wants MPI_THREAD_MULTIPLE.
/// Throws std::invalid_argument with a sentence.
ProgressBy choose_progress(bool multiple);

/// Native progress runs from joining the grid until the native MPI_Finalize begins.
void start_native_progress(ProgressBy by, bool multiple);
void stop_native_progress();

/// Has the native library move on what it has under way, for this cluster's other processes may
/// wait for that. Between joining the grid and leaving it.
void move_native_on();

/// True while this thread takes care of all outstanding operations, or is about to: it waits for
/// the grid or has the progress lock. The hook then does nothing. One word of thread-local storage.
extern constinit thread_local int attending __attribute__((tls_model("initial-exec")));
class Attending {
 public:
  Attending() { ++attending; }
  ~Attending() { --attending; }
  Attending(const Attending&) = delete;
  Attending& operator=(const Attending&) = delete;
};

/// Held around a native call that may wait for other processes: the helper thread works meanwhile.
class Parked {
 public:
  Parked();
  ~Parked();
  Parked(const Parked&) = delete;
  Parked& operator=(const Parked&) = delete;
};

/// The number of threads in such calls; calls begun with nothing outstanding do not count.
int threads_parked();

/// Calls a native function that may wait for other processes.
template <class Function, class... Arguments>
inline int parked(Function function, Arguments... arguments) {
  if (idle()) [[likely]] {
    return function(arguments...);
  }
  const Parked here;
  return function(arguments...);
}

}  // namespace isthmus::face
