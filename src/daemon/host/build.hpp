// The build of isthmusd, for messages and for the launcher.
#pragma once

namespace isthmus::daemon {

/// The commit of git that was built, with "-dirty" if files had changed; or "unknown".
const char* commit();

}  // namespace isthmus::daemon
