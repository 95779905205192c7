// Starting a process with its standard streams as pipes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "daemon/host/file_descriptor.hpp"
#include "daemon/launch/environment.hpp"

namespace isthmus::daemon {

struct ChildPlan {
  std::vector<std::string> argv;  ///< argv[0] is a path; PATH is not searched
  std::string launcher;           ///< the native launcher's name, for messages; may be empty
  Environment environment;
  std::string directory;     ///< empty: the present one
  bool piped_stdin = false;  ///< else it reads /dev/null
  /// The name of a variable. Only the process that starts here gets standard input. The variable
  /// has its pipe (named_pipe.hpp), or its address if not all is `here` (input_door.hpp). The
  /// process itself reads /dev/null. Empty: not so.
  std::string stdin_variable;
  std::string stdin_pipe;  ///< where that pipe is made
  bool here = true;        ///< all that it starts runs on this host
  bool own_group = true;   ///< leads a process group of its own
  int death_signal = 0;    ///< sent to it when the thread that started it ends (0: none)
};

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

/// Closed on exec. Throws Failure when no descriptors are left.
Pipe make_pipe();

/// A started process. Its owner waits for the pid; the destructor does not.
struct Child {
  pid_t pid = -1;
  FileDescriptor stdin_pipe;  ///< to write to; only with piped_stdin
  FileDescriptor stdout_pipe;
  FileDescriptor stderr_pipe;
};

/// Throws Failure when the process cannot be started (also when exec itself fails).
Child start_child(const ChildPlan& plan);

/// The result of a short-lived command.
struct Captured {
  int status = -1;         ///< as a shell reports it: exit code, or 128 + signal
  bool timed_out = false;  ///< it was killed after the limit, or `hangup_fd` was hung up
  std::string out;
  std::string err;
};

/// Runs a command to its end with /dev/null as its input. At most `limit` long and `max_output`
/// bytes per stream; beyond either it is killed, with its process group. It is also killed when
/// the other end of `hangup_fd` (if not negative) is closed.
Captured capture(ChildPlan plan, std::chrono::milliseconds limit, int hangup_fd = -1,
                 std::size_t max_output = std::size_t{1} << 20);

/// Exit code, or 128 + signal, from waitpid's status.
int shell_status(int wait_status);

}  // namespace isthmus::daemon
