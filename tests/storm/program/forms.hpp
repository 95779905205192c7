// The three forms of a collective call: blocking, non-blocking and persistent.
#pragma once

#include "step.hpp"

namespace storm {

enum class Form { kBlocking, kNonblocking, kPersistent };

/// One that all ranks of the party have.
inline Form draw_form(Step& step) {
  const int way = step.random.below(100);
  if (way < 50) return Form::kBlocking;
  // Within one cluster the native library does it, and that of MPICH 4.0 is wrong when started
  // again (2026-11).
  const bool persistent = options.version >= 4 && options.grid && step.party.depth == 0;
  return way < 80 || !persistent ? Form::kNonblocking : Form::kPersistent;
}

/// A collective in the form that was drawn. `prepare` fills its buffers, each time that it is
/// started; `done` checks and changes them. Both keep what they hold until the last operation has
/// completed.
struct Collective {
  Step& step;
  Form form;
  UnderWay& operations;
  std::function<void()> prepare, done;

  template <class Blocking, class Nonblocking, class Persistent>
  void call(Blocking blocking, Nonblocking nonblocking, Persistent persistent) {
    if (form == Form::kPersistent) {
      persistent_rounds(persistent);
      return;
    }
    prepare();
    if (form == Form::kBlocking) {
      blocking();
      done();
    } else {
      nonblocking(operations.add([prepare = prepare, done = done](const MPI_Status&) { done(); }));
    }
  }

 private:
  template <class Persistent>
  void persistent_rounds(Persistent persistent) {
    MPI_Request request;
    persistent(&request);
    for (int starts = step.random.between(1, 3); starts > 0; --starts) {
      prepare();
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      done();
    }
    MPI_Request_free(&request);
  }
};

}  // namespace storm

// collective.call of MPI_NAME, MPI_INAME and MPI_NAME_init with these arguments.
#if MPI_VERSION >= 4
#define STORM_PERSISTENT(blocking, ...) \
  [&](MPI_Request* request) { MPI_##blocking##_init(__VA_ARGS__, MPI_INFO_NULL, request); }
#else
#define STORM_PERSISTENT(blocking, ...) [&](MPI_Request*) {}
#endif
#define STORM_CALL(collective, blocking, nonblocking, ...)                          \
  (collective)                                                                      \
      .call([&] { MPI_##blocking(__VA_ARGS__); },                                   \
            [&](MPI_Request* request) { MPI_##nonblocking(__VA_ARGS__, request); }, \
            STORM_PERSISTENT(blocking, __VA_ARGS__))
