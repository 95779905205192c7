#include "rma/turn.hpp"

#include <cerrno>
#include <system_error>

namespace isthmus::rma {

Turn::Turn() : mutex_{} {
  pthread_mutexattr_t kind;
  int code = pthread_mutexattr_init(&kind);
  if (code == 0) code = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  if (code == 0) code = pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  if (code == 0) code = pthread_mutex_init(&mutex_, &kind);
  pthread_mutexattr_destroy(&kind);
  if (code != 0) throw std::system_error(code, std::generic_category(), "a mutex for processes");
}

void Turn::lock() noexcept {
  // A sleeper wakes late; the holder is done sooner than that.
  constexpr int kTries = 100;
  int code = EBUSY;
  for (int i = 0; code == EBUSY && i < kTries; ++i) code = pthread_mutex_trylock(&mutex_);
  if (code == EBUSY) code = pthread_mutex_lock(&mutex_);
  // Its last holder has died. The job ends of that; until then others go on.
  if (code == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
}

}  // namespace isthmus::rma
