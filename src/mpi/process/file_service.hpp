// The file service of this process, and the way to those of others.
#pragma once

#include <cstdint>
#include <memory>

#include "core/ids.hpp"
#include "file/open_file.hpp"

namespace isthmus::face {

/// Serves far processes from now on, and takes replies from theirs. Program's thread; cheap when
/// it was called before.
void serve_files();

/// What asks the service of a far process. After serve_files().
std::shared_ptr<file::Caller> file_caller(core::NodeId node);

// Processes of other runs get at no file service but by a file that they have opened together with
// this run: it has a service of its own, in a context that its members alone know (`file`, even).

/// Serves those who know it that file, and no other.
void serve_one_file(std::uint64_t file, const file::Paths& paths);
/// What asks a process that does.
std::shared_ptr<file::Caller> caller_about(std::uint64_t file, core::NodeId node);
/// Nobody asks here about the file any more, and nothing has been asked that is not answered. None
/// of both need have begun.
void end_file(std::uint64_t file);

}  // namespace isthmus::face
