// Memory of a window that the CPU cannot reach: a GPU's. Its target copies it from and to memory of
// the host.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace isthmus::rma {

/// Copies between the host and one device, in any order between two calls of end(). All
/// functions but the destructor throw std::exception, whose words are for the user.
class DeviceCopies {
 public:
  DeviceCopies() = default;
  /// Waits for copies that are under way.
  virtual ~DeviceCopies() = default;
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  /// Both ends stay as they are until end().
  virtual void to_host(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void to_device(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  /// Waits for all of them.
  virtual void end() = 0;
};

/// For the device that has this address. Throws as DeviceCopies does.
using OpenDevice = std::unique_ptr<DeviceCopies> (*)(const std::byte* at);

/// The copies of one target. Accesses in a row to a region share them, until end().
class DeviceWork {
 public:
  explicit DeviceWork(OpenDevice open) : open_(open) {}
  bool under_way() const { return copies_ != nullptr; }

  /// Calls `use(copies)` for the device that has `region`. False: it threw, and words() tells why.
  template <class Use>
  bool on(const std::byte* region, Use&& use) {
    if (region_ != region && !end()) return false;
    return attempt([&] {
      if (copies_ == nullptr) copies_ = open_(region);
      region_ = region;
      std::forward<Use>(use)(*copies_);
    });
  }
  /// Waits for the copies. False as for on().
  bool end() {
    if (copies_ == nullptr) return true;
    const bool good = attempt([&] { copies_->end(); });
    leave();
    return good;
  }
  const std::string& words() const { return words_; }

 private:
  template <class Act>
  bool attempt(Act&& act) {
    try {
      std::forward<Act>(act)();
      return true;
    } catch (const std::exception& failure) {
      words_ = failure.what();
      leave();
      return false;
    }
  }
  void leave() {
    copies_.reset();
    region_ = nullptr;
  }

  const OpenDevice open_;
  std::unique_ptr<DeviceCopies> copies_;
  const std::byte* region_ = nullptr;
  std::string words_;
};

}  // namespace isthmus::rma
