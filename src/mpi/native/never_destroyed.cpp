// A face's static objects are never destroyed. Threads of ours use them until the process ends. A
// forked child that leaves by exit() has not those threads: a destructor that waits for one, or for
// a condition variable on which one slept, would never end. So this library registers nothing that
// runs at exit; hidden, it hides the C library's function from this library alone.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*);

extern "C" int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
