// The keys of a service: a folder with a file for each, which `isthmusd key` writes and the
// service reads. Only its owner may look into either.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/wipe.hpp"
#include "daemon/service/limits.hpp"

namespace isthmus::daemon {

struct ServiceKey {
  std::string id;       ///< "alice-3f2a"; no other key ever has it
  std::string user;     ///< whose jobs and limits it stands for
  core::Secret secret;  ///< raw bytes
  std::string made;     ///< a day: "2026-11-23"
  std::string revoked;  ///< a day; empty: it is good
  KeyLimits limits{};
};

/// The keys in a folder by their names. For each other file, a sentence names it and says why it is
/// not a key.
struct KeysRead {
  std::vector<ServiceKey> keys;
  std::vector<std::string> wrong;
};

class KeyFolder {
 public:
  explicit KeyFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// A file that others may read, or that is not a key, is wrong. The other files still count. A
  /// folder that is not there has none. Throws Failure where it cannot be read.
  KeysRead read() const;
  /// A new key for the user. Throws Failure.
  ServiceKey add(const std::string& user, const KeyLimits& limits = {}) const;
  /// Gives the key of this name, or all of this user, other limits; returns their names. Throws as
  /// revoke.
  std::vector<std::string> limit(const std::string& name, const KeyLimits& limits) const;
  /// Revokes the key of this name, or all good ones of this user, also those that others may read;
  /// returns their names. Throws Failure if it does not exist.
  std::vector<std::string> revoke(const std::string& name) const;
  /// Changes whenever a key does.
  std::string state() const;

 private:
  std::vector<std::filesystem::path> files() const;
  /// The names of the good keys that `name` means, each of which `change` has changed.
  std::vector<std::string> change(const std::string& name,
                                  const std::function<void(ServiceKey&)>& change) const;
  void write(const ServiceKey& key, bool anew) const;

  std::filesystem::path folder_;
};

/// The text of the file that the user keeps, and names by `key` of a [[relay]].
std::string key_file(const ServiceKey& key);

}  // namespace isthmus::daemon
