// A file behind the file service of another process.
#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <utility>

#include "file/error.hpp"
#include "file/open_file.hpp"

namespace isthmus::file {
namespace {

// So many requests of one access are under way: 4 MiB, which a gigabit takes 35 ms for.
constexpr std::size_t kWindow = 8;

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
  There(std::shared_ptr<Caller> caller, const Paths& paths) : caller_(std::move(caller)) {
    static std::atomic<std::uint64_t> last{0};
    file_ = ++last;
    Request request = asking(Op::Open, flags_of(paths.file.flags));
    request.b = static_cast<std::int64_t>(paths.file.permissions);
    request.text = paths.file.path;
    request.data = std::as_bytes(std::span(paths.shared));
    caller_->call(request);
  }

  void set_view(const View& view) override {
    std::vector<std::byte> map;
    view.filetype.encode(map);
    for (std::size_t at = 0; at < map.size(); at += kMostData) {
      Request request = asking(Op::ViewPart);
      request.data = std::span(map).subspan(at, std::min(kMostData, map.size() - at));
      caller_->call(request);
    }
    caller_->call(asking(Op::View, view.displacement));
  }

  std::size_t read(std::int64_t position, std::span<std::byte> to) override {
    std::size_t done = 0;
    bool ended = false;  // the file, before all that was asked for
    in_pieces(
        to.size(),
        [&](std::size_t at, std::size_t length) {
          Request request = asking(Op::Read, position + static_cast<std::int64_t>(at));
          request.b = static_cast<std::int64_t>(length);
          return request;
        },
        [&](std::size_t at, std::size_t length, const Reply& reply) {
          if (ended) return;
          const std::size_t got = std::min(reply.data.size(), length);
          std::copy_n(reply.data.begin(), got, to.begin() + static_cast<std::ptrdiff_t>(at));
          done += got;
          ended = got < length;
        });
    return done;
  }

  void write(std::int64_t position, std::span<const std::byte> from) override {
    in_pieces(
        from.size(),
        [&](std::size_t at, std::size_t length) {
          Request request = asking(Op::Write, position + static_cast<std::int64_t>(at));
          request.data = from.subspan(at, length);
          return request;
        },
        [](std::size_t, std::size_t, const Reply&) {});
  }

  std::int64_t size() override { return caller_->call(asking(Op::Size)).value; }
  void resize(std::int64_t size) override { caller_->call(asking(Op::Resize, size)); }
  void preallocate(std::int64_t size) override { caller_->call(asking(Op::Preallocate, size)); }
  void sync() override { caller_->call(asking(Op::Sync)); }
  void lock(std::int64_t low, std::int64_t high) override {
    Request request = asking(Op::Lock, low);
    request.b = high;
    caller_->call(request);
  }
  void unlock() override { caller_->call(asking(Op::Unlock)); }
  std::int64_t add_shared(std::int64_t value) override {
    return caller_->call(asking(Op::Add, value)).value;
  }
  void set_shared(std::int64_t value) override { caller_->call(asking(Op::Set, value)); }
  void close() override { caller_->call(asking(Op::Close)); }

 private:
  Request asking(Op op, std::int64_t a = 0) const {
    Request request;
    request.op = op;
    request.file = file_;
    request.a = a;
    return request;
  }

  /// Asks for pieces of `size` bytes in all, several at a time; hands over the replies in order.
  /// The first that failed is thrown when all have come.
  template <class Ask, class Take>
  void in_pieces(std::size_t size, Ask&& ask, Take&& take) {
    struct Piece {
      std::uint64_t number;
      std::size_t at, length;
    };
    std::deque<Piece> under_way;
    std::exception_ptr failure;
    std::size_t at = 0;
    while (!under_way.empty() || (at < size && !failure)) {
      if (at < size && !failure && under_way.size() < kWindow) {
        const std::size_t length = std::min(kMostData, size - at);
        under_way.push_back({caller_->begin(ask(at, length)), at, length});
        at += length;
        continue;
      }
      const Piece first = under_way.front();
      under_way.pop_front();
      try {
        const Reply reply = caller_->finish(first.number);
        if (!failure) take(first.at, first.length, reply);
      } catch (const Error&) {
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
  }

  std::shared_ptr<Caller> caller_;
  std::uint64_t file_ = 0;
};

}  // namespace

std::uint64_t Caller::begin(Request request) {
  {
    const std::lock_guard lock(mutex_);
    request.number = ++last_;
    replies_.emplace(request.number, std::nullopt);
  }
  send_(encode(request));
  return request.number;
}

Reply Caller::finish(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  const auto at = replies_.find(number);
  come_.wait(lock, [&] { return at->second.has_value(); });
  Reply reply = std::move(*at->second);
  replies_.erase(at);
  lock.unlock();
  if (reply.error != 0) throw Error(reply.error, reply.sentence);
  return reply;
}

bool Caller::take(std::span<const std::byte> message) {
  auto reply = decode_reply(message);
  if (!reply) return false;
  const std::lock_guard lock(mutex_);
  const auto at = replies_.find(reply->number);
  if (at == replies_.end() || at->second) return false;
  at->second = std::move(reply);
  come_.notify_all();
  return true;
}

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
