// The inside of ConduitDriver: one of its streams.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <system_error>

#include "core/wire/wire.hpp"
#include "net/conduit/batch.hpp"
#include "net/conduit/conduit_driver.hpp"
#include "net/conduit/frame_run.hpp"

namespace isthmus::net {

// A stream with its buffers.
struct ConduitDriver::Line {
  static constexpr std::size_t kBuffer = std::size_t{256} * 1024;
  static_assert(kBuffer >= core::kHeaderSize + core::kMaxBody && kBuffer >= FrameRun::kRest);

  std::shared_ptr<Stream> stream;
  core::StreamId id = 0;
  std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(kBuffer);
  std::size_t begin = 0, end = 0;  // unread bytes in buffer
  // The last `landing` bytes of the frame at `begin` are in place. `landed` of them have come.
  std::size_t landing = 0, landed = 0;
  std::shared_ptr<core::Packet> memory;  // it lands there; null: where ConduitUser::place says
  FrameRun run;                          // what may follow it
  int unlikely = 0;                      // frames behind which nothing is expected
  bool landing_next = false;             // a frame has just landed, so the next may
  bool up = true;
  bool greeted = false;
  bool probing = false;     // a wide Ping goes over it, and is not answered yet
  core::Time since{};       // when it came up
  bool far = false;         // a round trip is core::kFarRoundTrip or longer
  bool blocked = false;     // waits until the stream can take more
  core::Time blocked_at{};  // since when
  Batch batch;
  bool rests = false;                   // waits until the stream can be read
  bool goes_on = false;                 // a look has ended too early, and another follows
  std::deque<core::PacketPtr> packets;  // being written
  std::size_t written = 0;              // of the first of them
};

/// The end of a stream, in the form that its owner gets.
Loss loss_by(const std::error_code& error);

}  // namespace isthmus::net
