// A file in this process's own file system.
#include <chrono>
#include <thread>

#include "core/base/mutex.hpp"
#include "file/access.hpp"
#include "file/open_file.hpp"

namespace isthmus::file {
namespace {

// Others hold ranges while they read or write once.
constexpr std::chrono::microseconds kRetry{100};

class Here final : public OpenFile {
 public:
  explicit Here(const Paths& paths) : storage_(open_file(paths.file)), shared_(paths.shared) {}

  void set_view(const View& view) override { view_ = view; }
  std::size_t read(std::int64_t position, std::span<std::byte> to) override {
    return read_seen(*storage_, view_, position, to);
  }
  void write(std::int64_t position, std::span<const std::byte> from) override {
    write_seen(*storage_, view_, position, from);
  }
  std::unique_ptr<UnderWay> begin_read(std::int64_t, std::span<std::byte>) override {
    return nullptr;
  }
  std::unique_ptr<UnderWay> begin_write(std::int64_t, std::span<const std::byte>) override {
    return nullptr;
  }
  void settle() override {}
  std::int64_t size() override { return storage_->size(); }
  void resize(std::int64_t size) override { storage_->resize(size); }
  void preallocate(std::int64_t size) override { storage_->preallocate(size); }
  void sync() override { storage_->sync(); }
  void lock(std::int64_t low, std::int64_t high) override {
    std::unique_lock alone(alone_);
    while (!storage_->try_lock(low, high)) std::this_thread::sleep_for(kRetry);
    alone.release();
  }
  void unlock() override NO_THREAD_SAFETY_ANALYSIS {
    storage_->unlock();
    alone_.unlock();
  }
  std::int64_t add_shared(std::int64_t value) override { return shared_.add(value); }
  void set_shared(std::int64_t value) override { shared_.set(value); }
  Storage* storage() override { return storage_.get(); }
  void close() override { storage_.reset(); }

 private:
  std::unique_ptr<Storage> storage_;
  SharedNumber shared_;
  View view_;
  // Held from lock() to unlock(), which Clang cannot follow: the system's lock does not keep
  // threads of one opening apart.
  core::Mutex alone_;
};

}  // namespace

std::unique_ptr<OpenFile> open_here(const Paths& paths) { return std::make_unique<Here>(paths); }

}  // namespace isthmus::file
