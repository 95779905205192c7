#include "mpi/coll/host_commons.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <optional>
#include <vector>

#include "coll/allgather/allgather.hpp"
#include "coll/bcast/bcast.hpp"
#include "core/base/debug_off.hpp"
#include "core/base/mark.hpp"
#include "mpi/process/grid.hpp"

namespace isthmus::face {
namespace {

/// Before that a communicator has not shown that it is used for collectives: to have one takes two.
constexpr std::uint64_t kFirst = 4;
/// The limit for this process, over all communicators.
constexpr std::size_t kMostBytes = std::size_t{128} << 20;
std::atomic<std::size_t> bytes_in_use{0};

using core::Mark;
static_assert(sizeof(Mark) <= coll::Commons::kMark);

/// The location of rank 0's memory. Process 0: rank 0 has none.
struct Offer {
  std::int64_t process = 0;
  std::int64_t descriptor = -1;
  Mark mark{};
};

class Futex final : public coll::Sleep {
 public:
  void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
            std::chrono::microseconds limit) override {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    const timespec time{seconds.count(), std::chrono::nanoseconds(limit - seconds).count()};
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, seen, &time, nullptr,
              0);
  }
  void wake(std::atomic<std::uint32_t>& word) override {
    constexpr int kAll = 0x7FFF'FFFF;
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, kAll, nullptr,
              nullptr, 0);
  }
};
Futex futex;

std::optional<net::SharedMemory> memory_of(const Offer& offer, std::size_t size) {
  if (offer.process == 0 || bytes_in_use.load() + size > kMostBytes) return std::nullopt;
  try {
    auto file =
        net::descriptor_of(static_cast<pid_t>(offer.process), static_cast<int>(offer.descriptor));
    auto memory = net::SharedMemory::take(std::move(file), size, size);
    if (std::memcmp(memory.bytes().data(), offer.mark.data(), sizeof offer.mark) != 0) return {};
    return memory;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<net::SharedMemory> offered(Offer& offer, std::size_t size) {
  if (bytes_in_use.load() + size > kMostBytes) return std::nullopt;
  try {
    auto memory = net::SharedMemory::make(size);
    offer = {getpid(), memory.file().number(), core::new_mark()};
    std::memcpy(memory.bytes().data(), offer.mark.data(), sizeof offer.mark);
    return memory;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

bool HostCommons::due(const GridComm& comm, std::uint64_t number) {
  return number == kFirst && grid()->one_host && !comm.mixes_formats && !may_lose() &&
         !comm.inter && comm.runs.empty() && comm.size <= coll::Commons::kMostRanks &&
         !core::off(core::Mechanism::Commons);
}

coll::Task HostCommons::make(coll::Party& party, std::unique_ptr<HostCommons>& made) {
  const int ranks = party.layout().size();
  const std::size_t size = coll::Commons::bytes(ranks);
  Offer offer;
  std::optional<net::SharedMemory> memory;
  if (party.rank() == 0) memory = offered(offer, size);
  co_await coll::bcast_magpie(party, std::as_writable_bytes(std::span(&offer, 1)), 0, {});
  if (party.rank() != 0) memory = memory_of(offer, size);
  const std::byte mine{memory ? std::uint8_t{1} : std::uint8_t{0}};
  std::vector<std::byte> all(static_cast<std::size_t>(ranks));
  coll::Sizes sizes(all.size(), 1);
  co_await coll::allgather_magpie(party, {&mine, 1}, all, sizes, {});
  if (!memory || std::count(all.begin(), all.end(), mine) != ranks) co_return;
  memory->close_file();
  made = std::make_unique<HostCommons>(std::move(*memory), ranks, party.rank());
}

HostCommons::HostCommons(net::SharedMemory memory, int ranks, int rank)
    : memory_(std::move(memory)),
      commons_(memory_.bytes(), ranks, rank, futex,
               {.disagreement = MPI_ERR_TRUNCATE, .absence = MPI_ERR_OTHER}) {
  bytes_in_use += memory_.bytes().size();
}

HostCommons::~HostCommons() { bytes_in_use -= memory_.bytes().size(); }

}  // namespace isthmus::face
