// The bytes of a file, in any place. Offsets and sizes are bytes. Every function throws
// file::Error. One thread at a time uses an object, except for `read` and `write`.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "file/leftover.hpp"

namespace isthmus::file {

class Storage {
 public:
  virtual ~Storage() = default;
  /// Fewer bytes than requested only at the end of the file.
  virtual std::size_t read(std::int64_t offset, std::span<std::byte> to) = 0;
  /// All of them.
  virtual void write(std::int64_t offset, std::span<const std::byte> from) = 0;
  virtual std::int64_t size() = 0;
  virtual void resize(std::int64_t size) = 0;
  /// The file has at least that size, and its blocks are there.
  virtual void preallocate(std::int64_t size) = 0;
  /// Puts all written data on the disk; from now on, others' writes are seen.
  virtual void sync() = 0;
  /// Keeps the bytes [low, high) from the locks of all others that opened the file, here and on
  /// other hosts. False: another has some of them now. At most one range at a time.
  virtual bool try_lock(std::int64_t low, std::int64_t high) = 0;
  virtual void unlock() = 0;
};

/// The arguments for opening a file: flags of open(2) and the permissions of a new file.
struct Opening {
  std::string path;
  int flags = 0;
  mode_t permissions = 0666;
};
/// Uses the system's calls. Each object has a file description of its own, which holds its locks.
std::unique_ptr<Storage> open_file(const Opening& opening);
void remove_file(const std::string& path);

/// A number shared by all that open the file, in a small file of its own; absent means 0.
class SharedNumber {
 public:
  explicit SharedNumber(std::string path) : path_(std::move(path)) {}
  /// Adds and returns what was there. Waits for others that are at it, for microseconds.
  std::int64_t add(std::int64_t value) const;
  void set(std::int64_t value) const;
  void remove() const;

 private:
  /// The first use makes the file.
  struct Used {
    std::once_flag once;
    std::optional<Leftover> file;
  };
  void use() const;

  std::string path_;
  std::shared_ptr<Used> used_ = std::make_shared<Used>();
};

}  // namespace isthmus::file
