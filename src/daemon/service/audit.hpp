// What a service has done and refused, a line of JSON each, for administrators.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "daemon/launch/file_descriptor.hpp"

namespace isthmus::daemon {

class AuditLog {
 public:
  /// Appends to a file that only its owner may read; empty: standard error. Throws Failure.
  explicit AuditLog(std::string file);

  /// Opens the file anew, which may have been moved away. Throws Failure.
  void reopen();
  /// With the time. Whoever knocks at ports does not fill the disk: of refusals, at most 20 lines
  /// a minute are written, and how many were left out.
  void write(nlohmann::json event);

 private:
  void put(nlohmann::json event);

  std::string file_;
  FileDescriptor opened_;
  long minute_ = 0;
  int refusals_ = 0;
};

}  // namespace isthmus::daemon
