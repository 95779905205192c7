// The file service of this process, and the way to those of others.
#pragma once

#include <memory>

#include "core/ids.hpp"
#include "file/open_file.hpp"

namespace isthmus::face {

/// Serves far processes from now on, and takes replies from theirs. Program's thread; cheap when
/// it was called before.
void serve_files();

/// What asks the service of a far process. After serve_files().
std::shared_ptr<file::Caller> file_caller(core::NodeId node);

}  // namespace isthmus::face
