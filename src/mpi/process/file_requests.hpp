// Requests of far processes to the file service of this one. A thread of its own handles them,
// since the file system may block it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/engine/service.hpp"
#include "file/open_file.hpp"

namespace isthmus::face {

/// Sends a message of a file service. In the engine's lock.
void post_file_message(core::Engine& engine, core::NodeId to, std::uint64_t context,
                       std::vector<std::byte> bytes);

/// Takes requests of one context, on the I/O's turn, and answers in another.
class FileRequests final : public core::Service, public std::enable_shared_from_this<FileRequests> {
 public:
  /// `only`: requests here may use no other file.
  explicit FileRequests(std::uint64_t replies, std::optional<file::Paths> only = std::nullopt)
      : replies_(replies), only_(std::move(only)) {}
  bool take(core::NodeId from, const core::Envelope&, std::span<const std::byte> bytes) override;

  std::uint64_t replies() const { return replies_; }
  const file::Paths* only() const { return only_ ? &*only_ : nullptr; }

 private:
  const std::uint64_t replies_;
  const std::optional<file::Paths> only_;
};

}  // namespace isthmus::face
