// Files that a process removes in the end. If it ends before that, `isthmusd tidy` removes them.
#pragma once

#include <string>

namespace isthmus::file {

/// While this object lives, the end of the process removes the file at `path`: by a signal, also
/// SIGKILL, by MPI_Abort, by exit. The first object starts a process for that. If there can be none
/// (the limit of processes, no isthmusd), the file stays. Any thread. A forked child has no such
/// files.
class Leftover {
 public:
  explicit Leftover(const std::string& path);
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

 private:
  std::string path_;
};

/// For tests: objects tell this socket instead of a process. Before the first object.
void tell_tidier_at(int socket);

}  // namespace isthmus::file
