// A process's open file: in its own file system, or through the file service of a process that has
// it in its own. All functions may block and throw file::Error. Several threads may read, write and
// lock; set_view and close are called by one while no other uses the file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "file/caller.hpp"
#include "file/storage.hpp"
#include "file/view.hpp"

namespace isthmus::file {

/// An access that was begun. Only its thread uses it.
class UnderWay {
 public:
  virtual ~UnderWay() = default;
  /// Never blocks.
  virtual bool done() = 0;
  /// After done(), once: bytes that were read or written. Throws file::Error.
  virtual std::size_t finish() = 0;
};

class OpenFile {
 public:
  virtual ~OpenFile() = default;
  virtual void set_view(const View& view) = 0;
  /// Reads from byte `position` of the view on. Short at the end of the file.
  virtual std::size_t read(std::int64_t position, std::span<std::byte> to) = 0;
  virtual void write(std::int64_t position, std::span<const std::byte> from) = 0;
  /// The same without waiting; null: it would block. If accesses follow each other, reads look
  /// ahead, and writes end when their data have left: a later function throws their errors.
  virtual std::unique_ptr<UnderWay> begin_read(std::int64_t position, std::span<std::byte> to) = 0;
  virtual std::unique_ptr<UnderWay> begin_write(std::int64_t position,
                                                std::span<const std::byte> from) = 0;
  /// Waits for writes that have ended for the program alone; throws what went wrong with them.
  virtual void settle() = 0;
  virtual std::int64_t size() = 0;
  virtual void resize(std::int64_t size) = 0;
  virtual void preallocate(std::int64_t size) = 0;
  virtual void sync() = 0;
  /// Waits for the range of the file to be free of others' locks, and locks it. The same thread
  /// unlocks it.
  virtual void lock(std::int64_t low, std::int64_t high) = 0;
  virtual void unlock() = 0;
  virtual std::int64_t add_shared(std::int64_t value) = 0;
  virtual void set_shared(std::int64_t value) = 0;
  /// The file itself; null: it is not in this process's own file system.
  virtual Storage* storage() { return nullptr; }
  virtual void close() = 0;
};

struct Paths {
  Opening file;
  std::string shared;  ///< the shared number's
  bool ahead = true;   ///< whether accesses that follow each other look ahead
  bool goes = false;   ///< open_there: the end of the other process removes the file
};
std::unique_ptr<OpenFile> open_here(const Paths& paths);

/// Opened by the service behind `caller`.
std::unique_ptr<OpenFile> open_there(std::shared_ptr<Caller> caller, const Paths& paths);
/// Removes a file in the file system of the service behind `caller`.
void remove_there(Caller& caller, const std::string& path);

}  // namespace isthmus::file
