#include "mpi/rma/host_memory.hpp"

#include <fcntl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/mark.hpp"
namespace isthmus::face {
namespace {

using core::Mark;
using core::new_mark;

// Stands behind the window, in a page that no operation reaches.
struct Behind {
  Mark mark;
  rma::Turn turn;
};
std::size_t behind_at(std::size_t size) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}
std::size_t size_with_behind(std::size_t size) { return behind_at(size) + sizeof(Behind); }

std::byte* behind(const net::SharedMemory& memory, std::size_t size) {
  return memory.bytes().data() + behind_at(size);
}

Mark mark_of(const net::SharedMemory& memory, std::size_t size) {
  Mark mark{};
  std::memcpy(mark.data(), behind(memory, size) + offsetof(Behind, mark), sizeof mark);
  return mark;
}

// Memory is found out to be missing only when it is touched, by a signal.
bool system_has(std::size_t size) {
  struct sysinfo about {};
  if (sysinfo(&about) != 0) return false;
  const auto all = (static_cast<std::uint64_t>(about.totalram) + about.totalswap) * about.mem_unit;
  return size < all;
}

// Opening another kind of file could have effects of its own.
bool is_memory(const std::string& path) {
  constexpr std::string_view kMemory = "/memfd:isthmus";
  char target[64];
  const ssize_t length = readlink(path.c_str(), target, sizeof target);
  return length > 0 &&
         std::string_view(target, static_cast<std::size_t>(length)).starts_with(kMemory);
}

}  // namespace

std::optional<HostMemory> HostMemory::make(std::size_t size) {
  if (!system_has(size)) return std::nullopt;
  try {
    net::SharedMemory memory = net::SharedMemory::make(size_with_behind(size));
    new (behind(memory, size)) Behind{.mark = new_mark(), .turn = {}};
    return HostMemory(std::move(memory), size);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

HostMemory::Address HostMemory::address() const {
  const Mark mark = mark_of(memory_, size_);
  return {
      .pid = getpid(), .file = memory_.file().number(), .size = size_, .mark = {mark[0], mark[1]}};
}

rma::Turn* HostMemory::turn() const {
  return &std::launder(reinterpret_cast<Behind*>(behind(memory_, size_)))->turn;
}

std::optional<HostMemory> HostMemory::reach(const Address& address) {
  if (address.pid <= 0 || !system_has(address.size)) return std::nullopt;
  const std::string path =
      "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.file);
  if (!is_memory(path)) return std::nullopt;
  const std::size_t size = size_with_behind(address.size);
  try {
    net::Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.number() < 0) return std::nullopt;
    HostMemory found(net::SharedMemory::take(std::move(file), size, size), address.size);
    const Mark mark = mark_of(found.memory_, found.size_);
    if (!std::equal(mark.begin(), mark.end(), std::begin(address.mark))) return std::nullopt;
    found.close();
    return found;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace isthmus::face
