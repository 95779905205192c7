// The files for a rank's output, if it does not go to the launcher.
#pragma once

#include <string>

namespace isthmus::daemon {

/// The identity of a rank, for names of files and for people.
struct RankIdentity {
  int rank = 0;  ///< in the world
  std::string host;
  std::string job;
};

/// `pattern` with %r (world rank), %h (host), %j (job) and %% put in; other letters stay.
std::string file_name(const std::string& pattern, const RankIdentity& who);

/// Opens the file again and makes it descriptor `fd`. Throws Failure that names file and host.
void redirect(int fd, const std::string& file, const RankIdentity& who);

/// "isthmus: rank 3: n17, process 4711" of this process, in one write to `fd`.
void show_rank(int fd, const RankIdentity& who);

}  // namespace isthmus::daemon
