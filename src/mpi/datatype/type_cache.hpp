// What has been worked out of datatypes, so that the next call is cheap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/base/mutex.hpp"
#include "mpi/native/native.hpp"

namespace isthmus::face {

/// Lives as long as the process. Any thread may call it.
template <class Value>
class TypeCache {
 public:
  using Ref = std::shared_ptr<const Value>;

  /// Null: there is none for the datatype, or it was put with another `epoch`. Each time a datatype
  /// is freed is a new one, since handles are used again.
  Ref find(MPI_Datatype type, std::uint64_t epoch) {
    const core::Lock lock(mutex_);
    const auto found = of_.find(key(type));
    return found != of_.end() && found->second.epoch == epoch ? found->second.value : nullptr;
  }
  Ref put(MPI_Datatype type, std::uint64_t epoch, Value value) {
    auto made = std::make_shared<const Value>(std::move(value));
    const core::Lock lock(mutex_);
    if (of_.size() >= kMost) of_.clear();
    of_.insert_or_assign(key(type), Kept{epoch, made});
    return made;
  }

 private:
  static constexpr std::size_t kMost = 256;
  struct Kept {
    std::uint64_t epoch;
    Ref value;
  };
  core::Mutex mutex_;
  std::unordered_map<std::uintptr_t, Kept> of_ GUARDED_BY(mutex_);
};

}  // namespace isthmus::face
