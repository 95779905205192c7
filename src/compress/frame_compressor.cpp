#include "compress/frame_compressor.hpp"

#include <zstd.h>

#include <ctime>
#include <new>

#include "compress/words.hpp"
#include "core/wire/wire.hpp"

namespace isthmus::compress {
namespace {

// The quickest level with the entropy coder, which gains on numbers.
constexpr int kLevel = 1;
constexpr std::size_t kLargest = core::kHeaderSize + core::kMaxBody;

std::size_t width_of(Layout layout) {
  return layout == Layout::Words4 || layout == Layout::Bends4 ? 4 : 8;
}

bool is_bent(Layout layout) { return layout == Layout::Bends4 || layout == Layout::Bends8; }

// This thread's time on its core: waiting for a core on a busy host must not count.
std::chrono::nanoseconds worked() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

// Made at their first use: most links are not compressed, and those of one way use one of them.
struct FrameCompressor::Contexts {
  Contexts() = default;
  ~Contexts() {
    ZSTD_freeCCtx(compressing_);
    ZSTD_freeDCtx(decompressing_);
  }
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  ZSTD_CCtx* compressing() {
    if (compressing_ == nullptr) compressing_ = ZSTD_createCCtx();
    if (compressing_ == nullptr) throw std::bad_alloc();
    return compressing_;
  }
  ZSTD_DCtx* decompressing() {
    if (decompressing_ == nullptr) decompressing_ = ZSTD_createDCtx();
    if (decompressing_ == nullptr) throw std::bad_alloc();
    return decompressing_;
  }

 private:
  ZSTD_CCtx* compressing_ = nullptr;
  ZSTD_DCtx* decompressing_ = nullptr;
};

FrameCompressor::FrameCompressor() : contexts_(std::make_unique<Contexts>()) {}
FrameCompressor::~FrameCompressor() = default;

std::span<const std::byte> FrameCompressor::compress_as(Layout layout,
                                                        std::span<const std::byte> frame) {
  if (layout != Layout::AsIs) {
    if (is_bent(layout)) {
      bends_.resize(frame.size());
      bend_words(frame, width_of(layout), bends_);
      frame = bends_;
    }
    words_.resize(frame.size());
    spread_words(frame, width_of(layout), words_);
    frame = words_;
  }
  packed_.resize(1 + ZSTD_compressBound(frame.size()));
  packed_[0] = static_cast<std::byte>(layout);
  const std::size_t size =
      ZSTD_compressCCtx(contexts_->compressing(), packed_.data() + 1, packed_.size() - 1,
                        frame.data(), frame.size(), kLevel);
  if (ZSTD_isError(size) != 0U) return {};
  return std::span(packed_).first(1 + size);
}

std::span<const std::byte> FrameCompressor::compress(std::span<const std::byte> frame) {
  const Choice::Next next = choice_.next();
  if (!next.compress) return {};
  const auto begin = worked();
  const auto packed = compress_as(next.layout, frame);
  const auto took = worked() - begin;
  const std::size_t left = packed.empty() ? frame.size() : packed.size();
  choice_.measured(next.layout, frame.size(), left, took);
  return left + core::kHeaderSize < frame.size() ? packed : std::span<const std::byte>();
}

std::span<const std::byte> FrameCompressor::decompress(std::span<const std::byte> body) {
  if (body.empty() || std::to_integer<std::size_t>(body[0]) >= kLayouts) return {};
  const auto layout = static_cast<Layout>(body[0]);
  whole_.resize(kLargest);
  const std::size_t size = ZSTD_decompressDCtx(contexts_->decompressing(), whole_.data(), kLargest,
                                               body.data() + 1, body.size() - 1);
  if (ZSTD_isError(size) != 0U) return {};
  const auto whole = std::span(whole_).first(size);
  if (layout == Layout::AsIs) return whole;
  words_.resize(size);
  gather_words(whole, width_of(layout), words_);
  if (is_bent(layout)) unbend_words(words_, width_of(layout));
  return words_;
}

}  // namespace isthmus::compress
