// A file behind the file service of another process.
#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "core/base/mutex.hpp"
#include "file/error.hpp"
#include "file/open_file.hpp"
#include "file/running_ahead.hpp"

namespace isthmus::file {
namespace {

std::int64_t flags_of(int system) {
  const int access = system & O_ACCMODE;
  std::int64_t flags = access == O_RDONLY   ? kReads
                       : access == O_WRONLY ? kWrites
                                            : kReads | kWrites;
  if ((system & O_CREAT) != 0) flags |= kCreates;
  if ((system & O_EXCL) != 0) flags |= kExclusive;
  return flags;
}

class There final : public OpenFile {
 public:
  There(std::shared_ptr<Caller> caller, const Paths& paths)
      : caller_(std::move(caller)), ahead_(caller_), may_run_ahead_(paths.ahead) {
    static std::atomic<std::uint64_t> last{0};
    file_ = ++last;
    Request request = asking(Op::Open, flags_of(paths.file.flags) | (paths.goes ? kGoes : 0));
    request.b = static_cast<std::int64_t>(paths.file.permissions);
    request.text = paths.file.path;
    request.data = std::as_bytes(std::span(paths.shared));
    caller_->call(request);
  }

  void set_view(const View& view) override {
    std::vector<std::byte> map;
    view.filetype.encode(map);
    settle();
    for (std::size_t at = 0; at < map.size(); at += kMostData) {
      Request request = asking(Op::ViewPart);
      request.data = std::span(map).subspan(at, std::min(kMostData, map.size() - at));
      caller_->call(request);
    }
    caller_->call(asking(Op::View, view.displacement));
  }

  std::size_t read(std::int64_t position, std::span<std::byte> to) override {
    settle();
    return waited(caller_->read(file_, position, to));
  }
  void write(std::int64_t position, std::span<const std::byte> from) override {
    settle();
    waited(caller_->write(file_, position, from));
  }

  std::unique_ptr<UnderWay> begin_read(std::int64_t position, std::span<std::byte> to) override {
    const core::Lock lock(mutex_);
    behind_.check();
    write_end_ = -1;
    if (!may_run_ahead_ || std::exchange(read_end_, position + std::ssize(to)) != position) {
      ahead_.drop();
      return std::make_unique<Whole>(caller_->read(file_, position, to));
    }
    return ahead_.read(file_, position, to);
  }
  std::unique_ptr<UnderWay> begin_write(std::int64_t position,
                                        std::span<const std::byte> from) override {
    const core::Lock lock(mutex_);
    behind_.check();
    ahead_.drop();
    read_end_ = -1;
    ExchangeRef made = caller_->write(file_, position, from);
    if (!may_run_ahead_ || std::exchange(write_end_, position + std::ssize(from)) != position) {
      return std::make_unique<Whole>(std::move(made));
    }
    behind_.add(made);
    return std::make_unique<Sent>(std::move(made), from.size());
  }

  /// Ends all reads ahead and writes behind.
  void settle() override {
    const core::Lock lock(mutex_);
    ahead_.drop();
    read_end_ = write_end_ = -1;
    behind_.settle(*caller_);
  }
  std::int64_t size() override { return settled(Op::Size); }
  void resize(std::int64_t size) override { settled(Op::Resize, size); }
  void preallocate(std::int64_t size) override { settled(Op::Preallocate, size); }
  void sync() override { settled(Op::Sync); }
  void lock(std::int64_t low, std::int64_t high) override {
    settle();
    Request request = asking(Op::Lock, low);
    request.b = high;
    caller_->call(request);
  }
  void unlock() override { caller_->call(asking(Op::Unlock)); }
  std::int64_t add_shared(std::int64_t value) override {
    return caller_->call(asking(Op::Add, value));
  }
  void set_shared(std::int64_t value) override { caller_->call(asking(Op::Set, value)); }
  void close() override {
    std::exception_ptr failure;
    try {
      settle();
    } catch (const Error&) {
      failure = std::current_exception();
    }
    caller_->call(asking(Op::Close));
    if (failure) std::rethrow_exception(failure);
  }

 private:
  Request asking(Op op, std::int64_t a = 0) const {
    Request request;
    request.op = op;
    request.file = file_;
    request.a = a;
    return request;
  }
  std::size_t waited(const ExchangeRef& exchange) {
    caller_->wait(*exchange);
    return exchange->result();
  }

  std::int64_t settled(Op op, std::int64_t a = 0) {
    settle();
    return caller_->call(asking(op, a));
  }

  std::shared_ptr<Caller> caller_;
  std::uint64_t file_ = 0;
  core::Mutex mutex_;
  ReadAhead ahead_ GUARDED_BY(mutex_);
  WritesBehind behind_ GUARDED_BY(mutex_);
  const bool may_run_ahead_;
  std::int64_t read_end_ = -1, write_end_ = -1;  // of the access before, or -1
};

}  // namespace

std::unique_ptr<OpenFile> open_there(std::shared_ptr<Caller> caller, const Paths& paths) {
  return std::make_unique<There>(std::move(caller), paths);
}

void remove_there(Caller& caller, const std::string& path) {
  Request request;
  request.op = Op::Remove;
  request.text = path;
  caller.call(request);
}

}  // namespace isthmus::file
