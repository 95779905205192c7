// A far process may send any requests. Checks that a file service answers each or wants it
// repeated. It may touch only the files that it was given to open, which are in memory here. The
// first two bytes of each message are its length.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "file/error.hpp"
#include "file/memory_storage.hpp"
#include "file/server.hpp"

using namespace isthmus::file;

namespace {

/// Has room for kRoom bytes.
class SmallStorage final : public Storage {
 public:
  static constexpr std::int64_t kRoom = 1 << 20;
  std::size_t read(std::int64_t offset, std::span<std::byte> to) override {
    return inner_.read(within(offset, 0), to);
  }
  void write(std::int64_t offset, std::span<const std::byte> from) override {
    inner_.write(within(offset, static_cast<std::int64_t>(from.size())), from);
  }
  std::int64_t size() override { return inner_.size(); }
  void resize(std::int64_t size) override { inner_.resize(within(size, 0)); }
  void preallocate(std::int64_t size) override { inner_.preallocate(within(size, 0)); }
  void sync() override {}
  bool try_lock(std::int64_t low, std::int64_t high) override { return inner_.try_lock(low, high); }
  void unlock() override { inner_.unlock(); }

 private:
  static std::int64_t within(std::int64_t offset, std::int64_t bytes) {
    if (offset < 0) throw Error(EINVAL, "before the file");
    if (offset > kRoom - bytes) throw Error(ENOSPC, "no room");
    return offset;
  }
  MemoryStorage inner_{std::make_shared<MemoryBytes>()};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Server server([](const Opening&) { return std::make_unique<SmallStorage>(); },
                [](const std::string&) {});
  Request open;
  open.op = Op::Open;
  open.a = kReads | kWrites;
  if (decode_reply(*server.handle(1, open))->error != 0) std::abort();
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(data), size);
  for (std::size_t at = 0; at + 2 <= size;) {
    const std::size_t length = std::min<std::size_t>(data[at] | data[at + 1] << 8U, size - at - 2);
    const auto message = all.subspan(at + 2, length);
    (void)decode_reply(message);
    const auto request = decode_request(message);
    // The shared number is in the file system.
    if (request && request->op != Op::Add && request->op != Op::Set) {
      const auto reply = server.handle(1, *request);
      if (reply && !decode_reply(*reply)) std::abort();
    }
    at += 2 + length;
  }
  return 0;
}
