// For tests: a file in memory, with locks that exclude one another.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "core/base/mutex.hpp"
#include "file/storage.hpp"

namespace isthmus::file {

struct MemoryBytes {
  core::Mutex mutex;
  std::vector<std::byte> bytes;
  std::map<const void*, std::pair<std::int64_t, std::int64_t>> locks GUARDED_BY(mutex);
};

class MemoryStorage : public Storage {
 public:
  explicit MemoryStorage(std::shared_ptr<MemoryBytes> file) : file_(std::move(file)) {}

  std::size_t read(std::int64_t offset, std::span<std::byte> to) override {
    const core::Lock lock(file_->mutex);
    const auto from = static_cast<std::size_t>(offset);
    if (from >= file_->bytes.size()) return 0;
    const std::size_t n = std::min(to.size(), file_->bytes.size() - from);
    std::memcpy(to.data(), file_->bytes.data() + from, n);
    return n;
  }
  void write(std::int64_t offset, std::span<const std::byte> from) override {
    const core::Lock lock(file_->mutex);
    const auto to = static_cast<std::size_t>(offset);
    if (to + from.size() > file_->bytes.size()) file_->bytes.resize(to + from.size());
    std::memcpy(file_->bytes.data() + to, from.data(), from.size());
  }
  std::int64_t size() override { return static_cast<std::int64_t>(file_->bytes.size()); }
  void resize(std::int64_t size) override { file_->bytes.resize(static_cast<std::size_t>(size)); }
  void preallocate(std::int64_t size) override {
    if (size > this->size()) resize(size);
  }
  void sync() override {}
  bool try_lock(std::int64_t low, std::int64_t high) override {
    const core::Lock lock(file_->mutex);
    for (const auto& [who, range] : file_->locks) {
      if (who != this && low < range.second && range.first < high) return false;
    }
    file_->locks[this] = {low, high};
    return true;
  }
  void unlock() override {
    const core::Lock lock(file_->mutex);
    file_->locks.erase(this);
  }

 private:
  std::shared_ptr<MemoryBytes> file_;
};

}  // namespace isthmus::file
