// Objects of this library last as long as anything uses them. The functions here are hidden, so
// they replace those of the C and C++ libraries for this library alone.
//
// A face's static objects are never destroyed. Threads of ours use them until the process ends. A
// forked child that leaves by exit() has not those threads: a destructor that waits for one, or for
// a condition variable on which one slept, would never end. So nothing of this library runs at
// exit.
//
// Objects of a thread are destroyed when their thread ends, but not by exit(). The program may call
// MPI from its handlers of exit() and from destructors, which run afterwards. In a forked child,
// another thread of the rank may have held a lock that their destructors need.
#include <pthread.h>

namespace {

struct Ending {
  void (*end)(void*);
  void* object;
  Ending* before;
};

void end_all(void* last) {
  for (auto* ending = static_cast<Ending*>(last); ending != nullptr;) {
    ending->end(ending->object);
    const Ending* const done = ending;
    ending = ending->before;
    delete done;
  }
}

pthread_key_t make_key() {
  pthread_key_t key{};
  pthread_key_create(&key, end_all);
  return key;
}

}  // namespace

extern "C" {
__attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*);
__attribute__((visibility("hidden"))) int __cxa_thread_atexit(void (*)(void*), void*, void*);

int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }

int __cxa_thread_atexit(void (*end)(void*), void* object, void*) {
  static const pthread_key_t key = make_key();
  auto* const before = static_cast<Ending*>(pthread_getspecific(key));
  return pthread_setspecific(key, new Ending{end, object, before});
}
}
