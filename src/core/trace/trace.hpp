// The events of this process, for finding defects: fixed-size records in a ring in memory. They are
// written to a file when something breaks, at the end, and on request (docs/debugging.md).
//
//   trace::note<trace::Event::FrameSent>(peer, kind, sequence, bytes, stream);
//
// On any thread. One relaxed load and a branch while the subsystem is off (0.6 ns); 60 ns while it
// is on (November 2026). Never on the path of a message inside a cluster.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace isthmus::core::trace {

enum class Subsystem : std::uint8_t { Net, Match, Coll, Comm, Relay, Call, Link };

enum class Event : std::uint16_t {
#define ISTHMUS_EVENT(number, event, subsystem, name, fields) event = (number),
#include "core/trace/events.def"
#undef ISTHMUS_EVENT
};

/// A row of the table.
struct EventRow {
  Event event;
  Subsystem subsystem;
  std::string_view name;
  std::string_view fields;  ///< with a space between
};
constexpr std::array kEvents{
#define ISTHMUS_EVENT(number, event, subsystem, name, fields) \
  EventRow{Event::event, Subsystem::subsystem, name, fields},
#include "core/trace/events.def"
#undef ISTHMUS_EVENT
};

constexpr const EventRow& row_of(Event event) {
  const EventRow* found = kEvents.data();
  while (found->event != event) ++found;
  return *found;
}
constexpr std::size_t field_count(const EventRow& row) {
  std::size_t count = 1;
  for (const char c : row.fields) count += c == ' ' ? 1 : 0;
  return count;
}
constexpr bool ends_in_text(const EventRow& row) {
  return row.fields == "text" || row.fields.ends_with(" text");
}
constexpr std::uint32_t bit_of(Subsystem subsystem) { return 1U << static_cast<int>(subsystem); }

/// Bits of the subsystems that are on.
extern std::atomic<std::uint32_t> subsystems_on;

using Fields = std::array<std::int64_t, 5>;
void record(Event event, const Fields& fields) noexcept;

template <Event event, class... Values>
inline void note(Values... values) noexcept {
  constexpr const EventRow& row = row_of(event);
  static_assert(sizeof...(Values) == field_count(row), "not the fields of events.def");
  if ((subsystems_on.load(std::memory_order_relaxed) & bit_of(row.subsystem)) == 0) [[likely]] {
    return;
  }
  record(event, {static_cast<std::int64_t>(values)...});
}

/// For an event that ends in a text; eight characters are kept for each field left.
void record_text(Event event, Fields fields, std::size_t used, const char* text) noexcept;

template <Event event, class... Values>
inline void note_text(const char* text, Values... values) noexcept {
  constexpr const EventRow& row = row_of(event);
  static_assert(ends_in_text(row) && sizeof...(Values) + 1 == field_count(row),
                "not the fields of events.def");
  if ((subsystems_on.load(std::memory_order_relaxed) & bit_of(row.subsystem)) == 0) [[likely]] {
    return;
  }
  record_text(event, {static_cast<std::int64_t>(values)...}, sizeof...(Values), text);
}

// ---- once per process --------------------------------------------------------------------------

/// Reads ISTHMUS_TRACE: subsystems with commas between, or "all"; empty disables it. Throws
/// std::invalid_argument with a sentence that lists the known ones.
std::uint32_t parse_subsystems(std::string_view text);

constexpr std::size_t kUsualRecords = std::size_t{1} << 16, kMostRecords = std::size_t{1} << 24;

struct Origin {
  std::string directory;  ///< of the file; empty: the working directory
  /// "rank 3", "agent east": the name of this process. Both together make the file's name.
  std::string job, process;
  std::size_t records = kUsualRecords;  ///< of the ring; a power of two
  /// The launcher fetches the file: its name is not printed, and if the directory is not on this
  /// host it goes to /tmp.
  bool gathered = false;
};

/// The number of records for a printed number: the next power of two, at most kMostRecords;
/// kUsualRecords when it is empty. Throws std::invalid_argument with a sentence.
std::size_t parse_records(std::string_view text);

/// Begins. Before other threads call note(), or while they may; once per process, unless stop() has
/// been called. Throws std::invalid_argument when the directory cannot be written to.
void start(std::uint32_t subsystems, const Origin& origin);
/// Ends, and lets go of the ring: no other thread may be in note() any more.
void stop() noexcept;

/// Sets the printed name of a field's value: ("kind", 16, "Envelope"). After start(), before others
/// dump.
void name_value(std::string_view field, std::int64_t value, std::string_view name);

/// Writes the ring's records to the file, over those of an earlier dump; `reason` goes into it.
/// Async-signal-safe. False: tracing is off, another thread is dumping, this is the child of a
/// fork, or the file cannot be written. The first one names the file on standard error, if `told`.
bool dump(const char* reason, bool told = true) noexcept;
/// The file of dump(); empty while tracing is off.
const char* path() noexcept;

/// If tracing is on, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT write a dump before their previous
/// action.
void dump_on_faults();

}  // namespace isthmus::core::trace
