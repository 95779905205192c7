// The file service of this process, and the way to those of others.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/ids.hpp"
#include "file/open_file.hpp"

namespace isthmus::face {

/// Serves far processes from now on, and takes replies from theirs. Program's thread; cheap when
/// it was called before.
void serve_files();

/// The caller of a far process's service. After serve_files().
std::shared_ptr<file::Caller> file_caller(core::NodeId node);

/// Ends the requests to processes whose clusters have failed. Program's thread; one load if none
/// has since the last call.
void lose_failed_services();

// Processes of other runs reach a file service only for a file that they have opened together with
// this run. That file has a service of its own, in a context that only its members know (`file`,
// even).

/// Serves this file, and no other, to the processes that know the context.
void serve_one_file(std::uint64_t file, const file::Paths& paths);
/// The caller of a process with such a service.
std::shared_ptr<file::Caller> caller_about(std::uint64_t file, core::NodeId node);
/// Ends the service of the file and its caller here. No request may come any more, and all of this
/// process's requests have been answered. Either of the two may never have begun.
void end_file(std::uint64_t file);

}  // namespace isthmus::face
