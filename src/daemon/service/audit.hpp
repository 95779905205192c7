// A service's record of what it did and refused, a line of JSON each, for administrators.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "daemon/host/file_descriptor.hpp"
#include "daemon/log/rare_lines.hpp"

namespace isthmus::daemon {

class AuditLog {
 public:
  /// Appends to a file that only its owner may read; empty: standard error. Throws Failure.
  explicit AuditLog(std::string file);

  /// Opens the file again, because it may have been moved away. Throws Failure.
  void reopen();
  /// Writes the event with its time. Refusals of users get at most 20 lines a second, and a line
  /// with the number of those left out.
  void write(nlohmann::json event);
  /// A refusal of a connection that had proved nothing. Strangers cannot fill the disk: a line each
  /// 3 s says how many there were, and what the last one was, in at most 500 bytes.
  void refused_stranger(nlohmann::json event);
  /// Writes what has waited for its time, or all that waits. Called each second, and at the end.
  void tick(bool all = false);

 private:
  void put(nlohmann::json event);
  void put(log::RareLines<nlohmann::json>::Line line);

  std::string file_;
  FileDescriptor opened_;
  long second_ = 0;
  int refusals_ = 0;
  log::RareLines<nlohmann::json> strangers_;
};

}  // namespace isthmus::daemon
