// Files that the launcher brings to a cluster that lacks them (`--stage`).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "daemon/control/requests.hpp"
#include "daemon/host/file_descriptor.hpp"

namespace isthmus::daemon {

/// SHA-256 of a file as hex; empty when it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

/// The place of a StageRequest's path, for ranks that work in `directory` (empty: the agent's own).
/// Throws Failure if the path leads out of it.
std::filesystem::path staged_place(const std::string& path, const std::string& directory,
                                   const std::string& home);

/// One file on its way. It has its name once it is whole and its checksum is right; until then, and
/// where it never is, what was there before stays.
class StagedFile {
 public:
  /// Throws Failure where nothing can be written.
  StagedFile(std::filesystem::path place, const StageRequest& request);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  /// The next bytes. Throws Failure when the disk is full.
  void write(std::string_view bytes);
  /// Throws Failure when what came is not what was announced.
  void finish();
  const std::filesystem::path& place() const { return place_; }

 private:
  std::filesystem::path place_;
  std::filesystem::path temporary_;
  StageRequest request_;
  FileDescriptor file_;
  std::uint64_t written_ = 0;
};

}  // namespace isthmus::daemon
