// `isthmusd tidy`: removes files of a rank once the rank has ended, by whatever cause.
#pragma once

namespace isthmus::daemon {

/// The name of the process.
inline constexpr const char* kTidyName = "isthmus-tidy";

/// Reads core/base/tidying.hpp's packets from `socket` until the rank has closed its end, and
/// removes the files that are left.
void tidy_after(int socket);

/// The same with standard input. The process that does it is not a child of the rank, and ignores
/// SIGTERM, SIGINT and SIGHUP.
int run_tidy();

}  // namespace isthmus::daemon
