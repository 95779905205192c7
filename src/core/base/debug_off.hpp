// Mechanisms that an experiment disables, to see what each of them gains (docs/debugging.md). The
// result is the same without any of them, only slower.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace isthmus::core {

enum class Mechanism : std::uint8_t {
  AfterPause,       ///< larger steps of each stream while windows grow again
  AvoidLate,        ///< streams with late frames take no others for a while
  Borrowing,        ///< payloads go from the program's memory, not a copy
  BulkStreams,      ///< only the streams with the widest windows take bulk
  Commons,          ///< memory that ranks of a host share for collectives
  CoreSharing,      ///< a rank yields sooner if others want its core
  Crowd,            ///< fewer streams for each pair if many pairs send
  Express,          ///< one stream takes small frames only
  GatewayLooks,     ///< gateways poll for a moment before they sleep
  Gathering,        ///< small messages share frames
  HeldStreams,      ///< streams stand by for what follows a pause
  Landing,          ///< large frames are read to their final place
  LateFrames,       ///< frames whose stream may have lost its tail go again over another
  Lending,          ///< messages within a host are read from the sender's memory
  LooksNear,        ///< polling of memory that processes of this host write alone
  LooksOnOneHost,   ///< ranks of one host poll for 5 ms before they nap
  NativeYield,      ///< the library does not yield the core while a rank polls two networks
  Pacing,           ///< senders bound their rate to their share of a path
  SeveralLooks,     ///< several looks at the grid between two yields
  ShareUnsent,      ///< a bound for bytes in kernels' buffers
  ShortSlices,      ///< threads that carry messages are run sooner where others compute
  SocketLooks,      ///< ranks read a socket without asking the kernel first
  StreamingNaps,    ///< waiting ranks nap 0.1 ms while a long collective runs
  Turns,            ///< streams take more bulk at a time on wide and long paths
  WordDifferences,  ///< numbers are rearranged before compression
  kCount
};

using Mechanisms = std::bitset<static_cast<std::size_t>(Mechanism::kCount)>;

/// Those in a list of names in lower case with dashes, separated by commas. Throws
/// std::invalid_argument with a sentence about an unknown name.
Mechanisms parse_mechanisms(std::string_view names);

/// Whether ISTHMUS_DEBUG_OFF has the mechanism. The variable is read once. An unknown name ends the
/// process with a message.
bool off(Mechanism mechanism);

}  // namespace isthmus::core
