// The MPI function of the grid that this thread is in, for questions about the program's state and
// for the trace.
#pragma once

#include "core/trace/trace.hpp"
#include "mpi/process/uncancelled.hpp"

namespace isthmus::face {

/// A string literal; null outside, and in calls that go to the native library.
extern constinit thread_local const char* calling __attribute__((tls_model("initial-exec")));

class Calling {
 public:
  explicit Calling(const char* function) : before_(calling) {
    calling = function;
    core::trace::note_text<core::trace::Event::CallBegun>(function);
  }
  ~Calling() {
    core::trace::note<core::trace::Event::CallEnded>(before_ != nullptr);
    calling = before_;
  }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

 private:
  const Uncancelled uncancelled_;
  const char* before_;
};

}  // namespace isthmus::face
