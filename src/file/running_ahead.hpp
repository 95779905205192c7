// Accesses of a far file that follow each other: data read ahead, and data written while the
// program goes on. One thread at a time, but for the accesses under way.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "file/caller.hpp"
#include "file/open_file.hpp"

namespace isthmus::file {

/// An access that ends with its exchange.
class Whole final : public UnderWay {
 public:
  explicit Whole(ExchangeRef exchange) : exchange_(std::move(exchange)) {}
  bool done() override { return exchange_->done(); }
  std::size_t finish() override { return exchange_->result(); }

 private:
  ExchangeRef exchange_;
};

/// A write that ends when its data have left.
class Sent final : public UnderWay {
 public:
  Sent(ExchangeRef exchange, std::size_t size) : exchange_(std::move(exchange)), size_(size) {}
  bool done() override { return exchange_->sent(); }
  /// Reports errors so far now and, to be safe, once more later.
  std::size_t finish() override { return exchange_->done() ? exchange_->result() : size_; }

 private:
  ExchangeRef exchange_;
  std::size_t size_;
};

/// Writes that have ended for the program, and may not have come there.
class WritesBehind {
 public:
  void add(ExchangeRef exchange) { under_way_.push_back(std::move(exchange)); }
  /// Throws what went wrong with one of them, once.
  void check();
  /// Waits for all; then as check().
  void settle(Caller& caller);

 private:
  std::deque<ExchangeRef> under_way_;
};

/// Blocks of the view that were requested because they come next.
class ReadAhead {
 public:
  explicit ReadAhead(std::shared_ptr<Caller> caller) : caller_(std::move(caller)) {}
  /// A read that follows the one before it: takes the data ahead, and requests more.
  std::unique_ptr<UnderWay> read(std::uint64_t file, std::int64_t position,
                                 std::span<std::byte> to);
  void drop();

  struct Block {
    std::int64_t position = 0;
    std::vector<std::byte> bytes;
    ExchangeRef exchange;
    std::int64_t end() const { return position + static_cast<std::int64_t>(bytes.size()); }
    bool ended() const { return exchange->done(); }
    std::size_t there() const { return exchange->failed() ? 0 : exchange->result(); }
  };
  using BlockRef = std::shared_ptr<Block>;

 private:
  void ask_more(std::uint64_t file, std::int64_t from, std::size_t each);

  std::shared_ptr<Caller> caller_;
  std::deque<BlockRef> blocks_;  // each begins at the end of the one before it
  std::size_t reach_ = 0;        // bytes to request ahead
};

}  // namespace isthmus::file
