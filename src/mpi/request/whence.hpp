// The origin of the data that a thread of the program waits for, as far as the wait knows it, for
// profiles (profile/sampler.hpp). Runs without a profile do next to nothing here.
#pragma once

#include <atomic>

namespace isthmus::face {

/// The data of a wait comes from this cluster alone, or depends on another.
enum class Whence { Unknown, Near, Far };

/// The calling thread's place for its answer; null without a profile.
extern constinit thread_local std::atomic<Whence>* told_whence
    __attribute__((tls_model("initial-exec")));

/// While it lives, the calling thread's wait is known.
class KnownWhence {
 public:
  explicit KnownWhence(Whence whence = Whence::Unknown) : told_(told_whence) { is(whence); }
  ~KnownWhence() { is(Whence::Unknown); }
  KnownWhence(const KnownWhence&) = delete;
  KnownWhence& operator=(const KnownWhence&) = delete;
  bool wanted() const { return told_ != nullptr; }
  void is(Whence whence) {
    if (wanted()) told_->store(whence, std::memory_order_relaxed);
  }

 private:
  std::atomic<Whence>* const told_;
};

/// Accesses to files of other clusters that the program has begun and not yet seen end.
extern std::atomic<int> far_accesses;

class FarAccess {
 public:
  FarAccess() { far_accesses.fetch_add(1, std::memory_order_relaxed); }
  ~FarAccess() { far_accesses.fetch_sub(1, std::memory_order_relaxed); }
  FarAccess(const FarAccess&) = delete;
  FarAccess& operator=(const FarAccess&) = delete;
};

}  // namespace isthmus::face
