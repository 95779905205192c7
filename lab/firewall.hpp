// A site's firewall as its uplink sees it: which connections may be opened from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace isthmus::lab {

/// Keeps no state. Answers pass: TCP segments that open no connection, and ICMP that asks nothing.
/// Requests, and all packets of other protocols, pass only to open addresses.
class Firewall {
 public:
  /// IPv4 addresses in host byte order that may be connected to; empty: everything passes.
  void set_open(std::optional<std::vector<std::uint32_t>> addresses) {
    open_ = std::move(addresses);
  }

  /// Whether a frame (virtio header and IP packet) may come in.
  bool passes(std::span<const std::byte> frame) const;

 private:
  std::optional<std::vector<std::uint32_t>> open_;
};

}  // namespace isthmus::lab
