// The trace and the signals of a program that goes wrong.
#include <signal.h>

#include <array>
#include <cerrno>

#include "core/trace/trace.hpp"

namespace isthmus::core::trace {
namespace {

struct Fault {
  int number;
  const char* reason;
  struct sigaction before {};
};
std::array<Fault, 5> faults{{{SIGSEGV, "SIGSEGV"},
                             {SIGBUS, "SIGBUS"},
                             {SIGFPE, "SIGFPE"},
                             {SIGILL, "SIGILL"},
                             {SIGABRT, "SIGABRT"}}};

// The signal's former action follows when it is raised again. If an instruction caused it, the
// instruction repeats it, with the address at fault.
void on_fault(int number, siginfo_t* info, void*) {
  const int saved = errno;
  for (const Fault& fault : faults) {
    if (fault.number != number) continue;
    dump(fault.reason);
    sigaction(number, &fault.before, nullptr);
  }
  if (info == nullptr || info->si_code <= 0) raise(number);
  errno = saved;
}

}  // namespace

void dump_on_faults() {
  if (*path() == 0) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (Fault& fault : faults) {
    struct sigaction present {};
    sigaction(fault.number, nullptr, &present);
    if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == on_fault) continue;
    sigaction(fault.number, &action, &fault.before);
  }
}

}  // namespace isthmus::core::trace
