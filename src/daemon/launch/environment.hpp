// The environment of a process to be started.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace isthmus::daemon {

/// Holds the run's secret for ranks, in hexadecimal digits.
inline constexpr const char* kSecretVariable = "ISTHMUS_SECRET";

class Environment {
 public:
  /// This process's own.
  static Environment inherited();
  /// The environment that another process was started with, if it has left that in place. Empty if
  /// the process has ended, or belongs to another user.
  static std::optional<Environment> of_process(int pid);

  Environment() = default;
  Environment(const Environment&) = default;
  Environment& operator=(const Environment&) = default;
  /// Overwrites the secret of a run.
  ~Environment() { unset(kSecretVariable); }

  void set(const std::string& name, const std::string& value) { values_[name] = value; }
  void unset(const std::string& name);
  std::optional<std::string> get(const std::string& name) const;
  /// "NAME=VALUE" strings, as execve wants them.
  std::vector<std::string> strings() const;

 private:
  void add(std::string_view entry);  // "NAME=VALUE"

  std::map<std::string, std::string> values_;
};

/// The longest "NAME=VALUE" or argument that Linux passes to a new program.
inline constexpr std::size_t kMaxExecString = 131072 - 1;

}  // namespace isthmus::daemon
