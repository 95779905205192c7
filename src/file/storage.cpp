#include "file/storage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "file/error.hpp"

namespace isthmus::file {
namespace {

// Linux moves less than 2 GiB with one call.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

struct flock range(short type, std::int64_t low, std::int64_t high) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = low;
  lock.l_len = high - low;
  return lock;
}

class SystemFile final : public Storage {
 public:
  SystemFile(std::string path, int descriptor) : path_(std::move(path)), file_(descriptor) {}

  std::size_t read(std::int64_t offset, std::span<std::byte> to) override {
    std::size_t done = 0;
    while (done < to.size()) {
      const ssize_t got =
          pread(file_.get(), to.data() + done, std::min(to.size() - done, kMostAtOnce),
                offset + static_cast<std::int64_t>(done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot read " + path_, errno);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  void write(std::int64_t offset, std::span<const std::byte> from) override {
    std::size_t done = 0;
    while (done < from.size()) {
      const ssize_t put =
          pwrite(file_.get(), from.data() + done, std::min(from.size() - done, kMostAtOnce),
                 offset + static_cast<std::int64_t>(done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) fail("cannot write " + path_, errno);
      if (put == 0) fail("cannot write " + path_, EIO);
      done += static_cast<std::size_t>(put);
    }
  }

  std::int64_t size() override {
    struct stat about {};
    if (fstat(file_.get(), &about) != 0) fail("cannot tell the size of " + path_, errno);
    return about.st_size;
  }

  void resize(std::int64_t size) override {
    if (ftruncate(file_.get(), size) != 0) fail("cannot set the size of " + path_, errno);
  }

  void preallocate(std::int64_t size) override {
    if (size == 0) return;
    const int error = posix_fallocate(file_.get(), 0, size);
    if (error == EOPNOTSUPP || error == EINVAL) {  // a file system that has no blocks to keep
      if (this->size() < size) resize(size);
    } else if (error != 0) {
      fail("cannot preallocate " + path_, error);
    }
  }

  void sync() override {
    // A pipe or a device cannot write back.
    if (fsync(file_.get()) != 0 && errno != EINVAL && errno != EROFS) {
      fail("cannot write back " + path_, errno);
    }
    struct stat about {};
    if (fstat(file_.get(), &about) == 0 && about.st_nlink == 0) {
      fail("cannot keep " + path_ + ", which somebody has removed", ENOENT);
    }
    // A lock has a network file system look again at what others wrote.
    struct flock look = range(F_RDLCK, 0, 1);
    if (fcntl(file_.get(), F_OFD_SETLK, &look) != 0) return;
    look = range(F_UNLCK, 0, 1);
    fcntl(file_.get(), F_OFD_SETLK, &look);
  }

  bool try_lock(std::int64_t low, std::int64_t high) override {
    const int mode = fcntl(file_.get(), F_GETFL);
    const bool readable_only = (mode & O_ACCMODE) == O_RDONLY;
    struct flock lock = range(readable_only ? F_RDLCK : F_WRLCK, low, high);
    if (fcntl(file_.get(), F_OFD_SETLK, &lock) == 0) return true;
    if (errno == EAGAIN || errno == EACCES || errno == EINTR) return false;
    fail("cannot lock a part of " + path_ + ", as atomic access needs to", errno);
  }

  void unlock() override {
    struct flock all = range(F_UNLCK, 0, 0);
    fcntl(file_.get(), F_OFD_SETLK, &all);
  }

 private:
  std::string path_;
  Descriptor file_;
};

}  // namespace

std::unique_ptr<Storage> open_file(const Opening& opening) {
  const int descriptor = open(opening.path.c_str(), opening.flags | O_CLOEXEC, opening.permissions);
  if (descriptor < 0) fail("cannot open " + opening.path, errno);
  struct stat about {};
  if (fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode)) {
    close(descriptor);
    fail("cannot open " + opening.path, EISDIR);
  }
  return std::make_unique<SystemFile>(opening.path, descriptor);
}

void remove_file(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
    fail("cannot remove " + path, EISDIR);
  }
  if (unlink(path.c_str()) != 0) fail("cannot remove " + path, errno);
}

namespace {

template <class Use>
void with_number(const std::string& path, Use&& use) {
  const std::string doing = "cannot keep the shared file pointer in " + path;
  const Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) fail(doing, errno);
  struct flock whole = range(F_WRLCK, 0, 0);
  while (fcntl(file.get(), F_OFD_SETLKW, &whole) != 0) {
    if (errno != EINTR) fail(doing, errno);
  }
  std::int64_t value = 0;
  if (pread(file.get(), &value, sizeof value, 0) < 0) fail(doing, errno);
  use(value);
  if (pwrite(file.get(), &value, sizeof value, 0) != sizeof value) fail(doing, errno);
}

}  // namespace

void SharedNumber::use() const {
  std::call_once(used_->once, [this] { used_->file.emplace(path_); });
}

std::int64_t SharedNumber::add(std::int64_t value) const {
  use();
  std::int64_t before = 0;
  with_number(path_, [&](std::int64_t& now) {
    before = now;
    now += value;
  });
  return before;
}

void SharedNumber::set(std::int64_t value) const {
  use();
  with_number(path_, [&](std::int64_t& now) { now = value; });
}

void SharedNumber::remove() const { unlink(path_.c_str()); }

}  // namespace isthmus::file
