// The limit of open files of this process: a gateway has a descriptor for each rank and stream.
#pragma once

namespace isthmus::daemon {

/// Raises the soft limit to the hard one. Children get back what this process had
/// (restore_open_files).
void raise_open_files();
/// After fork; async-signal-safe. Programs that use select() count on the usual limit.
void restore_open_files();

}  // namespace isthmus::daemon
