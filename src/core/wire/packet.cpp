#include "core/wire/packet.hpp"

#include <cstring>
#include <utility>

namespace isthmus::core {
namespace {

// The size of a small message's frame. It needs no allocation if an earlier one has been
// acknowledged: each conduit keeps this many, 4 KiB.
constexpr std::size_t kSmall = 128, kMostSpare = 32;

}  // namespace

std::shared_ptr<Packet> packet_for(std::size_t body) {
  auto packet = std::make_shared<Packet>();
  packet->size = packet->room = kHeaderSize + body;
  packet->data = frame_memory(packet->size).take(packet->size);
  return packet;
}

void Packet::own() {
  if (borrowed.empty()) return;
  std::memcpy(data.get() + size - borrowed.size(), borrowed.data(), borrowed.size());
  borrowed = {};
}

void Packet::set_header(const FrameHeader& header) {
  kind = header.kind;
  encode_header(header, data.get());
}

std::shared_ptr<Packet> PacketMaker::take(std::size_t body) {
  const std::size_t size = kHeaderSize + body;
  if (size > kSmall) return packet_for(body);
  if (spare_.empty()) {
    auto made = packet_for(kSmall - kHeaderSize);
    made->size = size;
    return made;
  }
  auto spare = std::move(spare_.back());
  spare_.pop_back();
  spare->size = size;
  return spare;
}

void PacketMaker::recycle(std::shared_ptr<Packet> packet) {
  const bool alone = packet.use_count() == 1;
  if (!alone || packet->room != kSmall || spare_.size() >= kMostSpare) return;
  packet->receipt = {};
  spare_.push_back(std::move(packet));
}

std::shared_ptr<Packet> PacketMaker::make(const FrameHeader& header,
                                          std::span<const std::byte> head,
                                          std::span<const std::byte> payload, bool borrow) {
  auto made = take(head.size() + payload.size());
  made->set_header(header);
  std::byte* const body = made->body().data();
  if (!head.empty()) std::memcpy(body, head.data(), head.size());
  if (borrow) {
    made->borrowed = payload;
    borrowed_.push_back(made);
  } else if (!payload.empty()) {
    std::memcpy(body + head.size(), payload.data(), payload.size());
  }
  return made;
}

bool PacketMaker::own_some(std::size_t bytes) {
  for (std::size_t owned = 0; !borrowed_.empty(); borrowed_.pop_front()) {
    Packet& packet = *borrowed_.front();
    // An acknowledged one has no other owner.
    if (borrowed_.front().use_count() == 1) continue;
    if (owned >= bytes) return true;
    owned += packet.borrowed.size();
    packet.own();
  }
  return false;
}

}  // namespace isthmus::core
