#include "net/host/short_slice.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/debug_off.hpp"

namespace isthmus::net {
namespace {

// The least that the kernel takes, ns.
constexpr std::uint64_t kShort = 100'000;

// struct sched_attr of sched_setattr(2). glibc declares it since 2.41.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // the slice. Kernels without slices give 0.
  std::uint64_t deadline = 0, period = 0;
};
static_assert(sizeof(Attributes) == 48);

constexpr std::uint64_t kResetOnFork = 1;  // SCHED_FLAG_RESET_ON_FORK

}  // namespace

void shorten_slice(Children children) {
  if (core::off(core::Mechanism::ShortSlices)) return;
  Attributes own;
  if (::syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0) return;
  if (own.policy != SCHED_OTHER || own.runtime <= kShort) return;
  if (children == Children::Usual) {
    if (own.nice < 0) return;
    own.flags |= kResetOnFork;
  }
  own.runtime = kShort;
  ::syscall(SYS_sched_setattr, 0, &own, 0);
}

}  // namespace isthmus::net
