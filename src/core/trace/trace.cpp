#include "core/trace/trace.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <ctime>
#include <memory>
#include <stdexcept>

#include "core/trace/ring.hpp"
#include "core/wire/frame.hpp"

namespace isthmus::core::trace {

std::atomic<std::uint32_t> subsystems_on{0};

namespace {

constexpr std::array<std::string_view, 7> kSubsystems{"net",   "match", "coll", "comm",
                                                      "relay", "call",  "link"};
static_assert(std::is_sorted(kEvents.begin(), kEvents.end(),
                             [](const auto& a, const auto& b) { return a.event < b.event; }));
static_assert(std::all_of(kEvents.begin(), kEvents.end(), [](const EventRow& row) {
  return field_count(row) <= std::tuple_size_v<Fields>;
}));

/// All that a dump needs stands ready: a signal handler may not allocate.
struct Trace {
  explicit Trace(std::size_t records) : ring(records), pid(getpid()) {}
  Ring ring;
  const int pid;  // a child that it forks has no trace
  std::string path;
  std::string header;  // without the reason
  std::string notice;  // empty: not printed
  std::atomic<bool> told{false};
  std::atomic_flag dumping = ATOMIC_FLAG_INIT;
};
std::atomic<Trace*> current{nullptr};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

std::uint32_t subsystem_named(std::string_view word) {
  if (word == "all") return (1U << kSubsystems.size()) - 1;
  const auto found = std::find(kSubsystems.begin(), kSubsystems.end(), word);
  if (found != kSubsystems.end()) return 1U << (found - kSubsystems.begin());
  std::string known = "all";
  for (const auto name : kSubsystems) known += ", " + std::string(name);
  throw std::invalid_argument("ISTHMUS_TRACE names '" + std::string(word.substr(0, 60)) +
                              "', which is not a subsystem; the subsystems are " + known);
}

std::string first_lines(const Origin& origin) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  std::string text = "isthmus-trace 1\n";
  text += "process " + origin.process + '\n';
  text += "job " + origin.job + '\n';
  text += "host " + std::string(host.data()) + '\n';
  text += "pid " + std::to_string(getpid()) + '\n';
  text += std::string("order ") + (std::endian::native == std::endian::little ? "little" : "big") +
          '\n';
  for (const EventRow& row : kEvents) {
    text += "event " + std::to_string(static_cast<int>(row.event)) + ' ';
    text += kSubsystems[static_cast<std::size_t>(row.subsystem)];
    text += ' ' + std::string(row.name) + ' ' + std::string(row.fields) + '\n';
  }
  return text;
}

std::string file_name(const Origin& origin) {
  std::string name = origin.job + '-' + origin.process + ".trace";
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && std::strchr("-_.", c) == nullptr; },
      '-');
  return name;
}

std::string whole_path(const Origin& origin) {
  std::string directory = origin.directory;
  if (directory.empty() || directory.front() != '/') {
    std::array<char, PATH_MAX> here{};
    const char* const cwd = getcwd(here.data(), here.size());
    directory =
        (cwd != nullptr ? std::string(cwd) : ".") + (directory.empty() ? "" : '/' + directory);
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    if (origin.gathered) return "/tmp/" + file_name(origin);
    throw std::invalid_argument("a trace cannot be written to '" + directory.substr(0, 300) +
                                "': " + std::strerror(errno) +
                                ". Name another folder by ISTHMUS_TRACE_DIR");
  }
  return directory + '/' + file_name(origin);
}

void name_frame_kinds() {
  const auto name = [](FrameKind kind, const char* text) {
    name_value("kind", static_cast<int>(kind), text);
  };
  name(FrameKind::Bye, "Bye");
  name(FrameKind::Ready, "Ready");
  name(FrameKind::Envelope, "Envelope");
  name(FrameKind::Piece, "Piece");
  name(FrameKind::Grant, "Grant");
  name(FrameKind::Credit, "Credit");
  name(FrameKind::Invite, "Invite");
  name(FrameKind::Batch, "Batch");
  name(FrameKind::Taken, "Taken");
  name(FrameKind::Spoil, "Spoil");
  name(FrameKind::Control, "Control");
}

bool write_all(int file, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool write_line(int file, const char* key, const char* text) {
  return write_all(file, key, std::strlen(key)) && write_all(file, text, std::strlen(text)) &&
         write_all(file, "\n", 1);
}

bool write_records(int file, const Ring& ring) {
  constexpr std::size_t kBatch = 64;
  std::array<Record, kBatch> batch;
  std::size_t used = 0;
  const std::uint64_t last = ring.written();
  for (std::uint64_t n = last > ring.size() ? last - ring.size() + 1 : 1; n <= last; ++n) {
    if (!ring.read(n, batch[used])) continue;
    if (++used < kBatch) continue;
    if (!write_all(file, batch.data(), sizeof batch)) return false;
    used = 0;
  }
  return write_all(file, batch.data(), used * sizeof(Record));
}

std::uint64_t thread_number() {
  thread_local const auto number =
      static_cast<std::uint64_t>(syscall(SYS_gettid));  // gettid(): glibc 2.30
  return number;
}

}  // namespace

std::uint32_t parse_subsystems(std::string_view text) {
  std::uint32_t bits = 0;
  while (!trimmed(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    bits |= subsystem_named(trimmed(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return bits;
}

std::size_t parse_records(std::string_view text) {
  if (text.empty()) return kUsualRecords;
  std::size_t records = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), records);
  if (error != std::errc() || end != text.data() + text.size() || records == 0 ||
      records > kMostRecords) {
    throw std::invalid_argument("ISTHMUS_TRACE_RECORDS is '" + std::string(text.substr(0, 60)) +
                                "'; it is a number of records from 1 to " +
                                std::to_string(kMostRecords));
  }
  return std::bit_ceil(records);
}

void start(std::uint32_t subsystems, const Origin& origin) {
  if (subsystems == 0 || current.load() != nullptr) return;
  auto made = std::make_unique<Trace>(origin.records);
  made->path = whole_path(origin);
  made->header = first_lines(origin);
  if (!origin.gathered) {
    made->notice = "isthmus: the trace of " + origin.process + " is " + made->path + "\n";
  }
  current.store(made.release());
  name_frame_kinds();
  subsystems_on.store(subsystems);
}

void stop() noexcept {
  subsystems_on.store(0);
  delete current.exchange(nullptr);
}

void name_value(std::string_view field, std::int64_t value, std::string_view name) {
  Trace* const trace = current.load();
  if (trace == nullptr) return;
  trace->header +=
      "name " + std::string(field) + ' ' + std::to_string(value) + ' ' + std::string(name) + '\n';
}

void record(Event event, const Fields& fields) noexcept {
  Trace* const trace = current.load(std::memory_order_acquire);
  if (trace == nullptr) return;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto time = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                    static_cast<std::uint64_t>(now.tv_nsec);
  trace->ring.add(time, thread_number() << 32 | static_cast<std::uint64_t>(event), fields);
}

void record_text(Event event, Fields fields, std::size_t used, const char* text) noexcept {
  const std::size_t room = (fields.size() - used) * sizeof fields[0];
  std::memcpy(fields.data() + used, text, strnlen(text, room));
  record(event, fields);
}

bool dump(const char* reason, bool told) noexcept {
  Trace* const trace = current.load();
  if (trace == nullptr || trace->pid != getpid() || trace->dumping.test_and_set()) return false;
  unlink(trace->path.c_str());  // its own from before; another user's stays, and keeps the name
  const int file =
      open(trace->path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  const bool good = file >= 0 && write_all(file, trace->header.data(), trace->header.size()) &&
                    write_line(file, "reason ", reason) && write_line(file, "records", "") &&
                    write_records(file, trace->ring);
  if (file >= 0) close(file);
  trace->dumping.clear();
  if (good && told && !trace->told.exchange(true)) {
    write_all(STDERR_FILENO, trace->notice.data(), trace->notice.size());
  }
  return good;
}

const char* path() noexcept {
  const Trace* const trace = current.load();
  return trace == nullptr ? "" : trace->path.c_str();
}

}  // namespace isthmus::core::trace
